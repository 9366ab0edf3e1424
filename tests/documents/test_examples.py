"""The examples run, and do what they say."""

import importlib.util
from pathlib import Path

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
