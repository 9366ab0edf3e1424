"""The examples run, and do what they say."""

import importlib.util
import json
import math
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import robai

EXAMPLES = Path(__file__).parents[2] / "examples"


def imported(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_website_experiment_commits_to_the_best_button_and_survives_restarts(tmp_path):
    example, pages = imported("ab_test"), []
    agent = example.run(tmp_path / "restarted", days=25, report=pages.append)
    assert agent.committed_arm == "orange"
    assert agent.commit_time < agent.rounds
    assert "--- day 25" in pages[-1]
    assert agent.commit_reason in pages[-1]
    straight = example.run(tmp_path / "straight", days=25, restarts=False, report=pages.append)
    assert straight.to_json() == agent.to_json()
    assert agent.store.check() == []
    for each in (agent, straight):
        each.store.close()


@pytest.fixture
def service(tmp_path):
    """The client, the address of a service, and its store."""
    client, path = imported("service/client"), tmp_path / "live.db"
    with subprocess.Popen([sys.executable, client.SERVER, path], stdout=subprocess.PIPE, text=True) as server:
        yield client, server.stdout.readline().strip(), path
        server.terminate()
        assert server.wait(20) == 0


def test_what_a_service_acknowledges_is_counted_once_whatever_is_killed(service):
    client, url, path = service
    visits, killed = client.drive(url, visitors=300, pause=0.7)
    assert killed > 0
    client.check(path, visits)


def test_a_service_says_what_is_wrong(service):
    client, url, _ = service
    asking = client.Client(url)
    ticket = asking.ticket("ann")
    assert asking.answer(ticket["id"], 1) == "held"
    assert asking.ask("GET", "/experiments/buttons")["rounds"] == 1

    def refused(path, body=None, length=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {} if length is None else {"Content-Length": length}
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(urllib.request.Request(url + path, data, headers), timeout=20)
        with caught.value as error:
            return error.code, json.load(error)["error"]

    answers = "/experiments/buttons/answers"
    assert refused("/experiments/buttons/tickets", {"key": 7})[0] == 400
    assert refused(answers, [{"ticket": 7}])[0] == 400
    assert refused(answers, [{"ticket": ticket["id"], "reward": 2}])[0] == 400
    assert refused(answers, [{"ticket": ticket["id"], "reward": 0}])[0] == 409
    assert refused(answers, [{"ticket": 7, "reward": 1}])[0] == 404
    assert refused(answers, [], length="1000001")[0] == 400
    assert refused("/experiments/button")[1].endswith("did you mean buttons?")
    assert refused("/")[0] == 404


# ---- replay

SKEWED = [[0.6, 0.2, 0.2], [0.1, 0.5, 0.4]]


@pytest.fixture
def example(monkeypatch):
    pandas = pytest.importorskip("pandas")
    example = imported("replay")
    means = {"A": [0.6, 0.8], "B": [0.3, 0.5], "C": [0.0, 0.2]}
    monkeypatch.setattr(example, "CONVERSION", pandas.DataFrame(means, index=["mobile", "desktop"]))
    return example


@pytest.mark.parametrize("shares", [[[1 / 3] * 3] * 2, SKEWED], ids=["uniform", "thinned"])
def test_a_replay_has_the_regret_of_the_policy(example, shares):
    rng, rounds, policy = np.random.default_rng(5), 300, robai.KLUCB()
    regret = []
    for seed in range(100):
        log = example.logged(1200 if shares is not SKEWED else 4200, rng, shares)
        agent = example.replay(example.thinned(log, rng), policy, rounds, rng=seed)
        regret.append(agent.pulls @ [0.0, 0.3, 0.6])
    truth = robai.simulate(policy, robai.Bernoulli([0.7, 0.4, 0.1]), rounds, 5000, rng=0).final_regret
    error = math.hypot(np.std(regret) / 10.0, truth.std() / math.sqrt(5000))
    assert abs(np.mean(regret) - truth.mean()) < 4 * error
    assert error < 0.1 * truth.mean()


def test_weighted_means_are_what_everybody_would_have_earned(example):
    rng, truth = np.random.default_rng(6), np.array([0.7, 0.4, 0.1])
    scores, plain = [], []
    for _ in range(200):
        log = example.logged(2000, rng, SKEWED)
        found = example.values(log)
        scores.append((found["value"] - truth) / found["error"])
        plain.append(log.groupby("arm")["reward"].mean() - truth)
    assert (abs(np.mean(scores, axis=0)) < 4 / math.sqrt(200)).all()
    assert (abs(np.var(scores, axis=0) - 1.0) < 4 * math.sqrt(2 / 200)).all()
    assert abs(np.mean(plain, axis=0)).max() > 0.04


def test_a_log_that_ends_too_early_is_an_error(example):
    log = example.logged(100, np.random.default_rng(0), [[1 / 3] * 3] * 2)
    with pytest.raises(ValueError, match=r"it ended after \d+ rounds of 1,000"):
        example.replay(log, robai.KLUCB(), 1000, rng=0)
