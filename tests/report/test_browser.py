"""Pages in Chromium: what they do when they are touched."""

import pytest
from support.browser import Browser

import robai
from robai.paper.gallery.zhang_ying2023 import FIGURES, SENSITIVITY, STUDY, TABLE
from robai.paper.page import page
from robai.paper.reproduction import Reproduction

HERO = "figure.hero"
OVER = f"{HERO} .u-over"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    started = Browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of every kind."""
    folder = tmp_path_factory.mktemp("pages")
    bandit = robai.Gaussian([0.7, 0.2])
    policies = [robai.EOCP(gap=0.5), robai.EOCPUG(), robai.UCB(), robai.BAIETC()]
    robai.compare(policies, bandit, 10**4, 200, rng=0).report(folder / "compare.html")
    found = robai.identify(
        [robai.TrackAndStop(), robai.KLLUCB()], robai.Bernoulli([0.8, 0.2]), delta=0.1, runs=50
    )
    found.report(folder / "identify.html")
    robai.sweep(policies, bandit, [100, 1000], runs=20, rng=0).report(folder / "sweep.html")
    experiments = [FIGURES["fig1-gaussian"], FIGURES["fig2-bernoulli"], TABLE["EOCP"], *SENSITIVITY.values()]
    results = {each.name: each.run(runs=20, rng=0) for each in experiments}
    agent = robai.Agent(robai.KLEOCPUG(), ["A", "B", "C"], 10**4, reward="bernoulli", rng=0)
    with robai.Store(folder / "live.db") as store:
        stored = store.create("live", robai.KLEOCPUG(), ["A", "B", "C"], 10**4, reward="bernoulli", rng=0)
        for each in (agent, stored):
            for place in range(20):
                arms = each.select_batch(10)
                each.update_batch(
                    arms, [(place + i) % (2 if arm == "B" else 3) == 0 for i, arm in enumerate(arms)]
                )
        stored.add_arm("a longer name")
        stored.update_batch(stored.select_batch(50), [0] * 50)
        stored.report(folder / "live.html")
    agent.report(folder / "agent.html")
    done = Reproduction(STUDY, True, 0, results)
    (folder / "paper.html").write_text(page(done, {}, {"numbers/claims.csv": "numbers/claims.csv"}))
    return folder


PAGES = ["compare", "identify", "sweep", "paper", "live", "agent"]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_fetched_complained_of_or_wider_than_the_screen(browser, pages, name, width):
    path = pages / f"{name}.html"
    browser.open(path, width=width, phone=width == 390)
    browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    browser.wait()
    assert browser.requests == [path.as_uri()]
    assert browser.complaints == []
    assert browser.run("document.documentElement.scrollWidth") == width
    sizes = browser.run(
        "[...document.querySelectorAll('.plot canvas')].map(it => it.getBoundingClientRect().width)"
    )
    assert len(sizes) == browser.run("document.querySelectorAll('figure.chart').length") > 1
    assert all(150 < size < width for size in sizes)


def shown(browser, selector):
    """The text of an element, None if it is hidden."""
    return browser.run(
        f"(() => {{ const it = document.querySelector('{selector}'); "
        "return getComputedStyle(it).display === 'none' ? null : it.innerText; })()"
    )


def drawn(browser, figure=0):
    """The pixels of a figure, as a text."""
    return browser.run(f"document.querySelectorAll('.plot canvas')[{figure}].toDataURL()")


def test_the_pointer_finds_values(browser, pages):
    browser.open(pages / "compare.html")
    assert shown(browser, f"{HERO} .values") is None
    browser.hover(OVER, right=0.499)
    text = shown(browser, f"{HERO} .values").split("\n")
    assert text[0] == "round 10,000"
    played = robai.compare([robai.EOCPUG()], robai.Gaussian([0.7, 0.2]), 10**4, 200, rng=0)["EOCPUG()"]
    place = next(place for place, line in enumerate(text) if line.startswith("EOCPUG()"))
    value = float(text[place + 1].split(" (")[0])
    assert value == pytest.approx(played.regret[-1], rel=1e-3)
    browser.hover("h1")
    assert shown(browser, f"{HERO} .values") is None


def test_the_pointer_finds_means_with_their_bounds(browser, pages):
    browser.open(pages / "live.html")
    browser.hover(OVER, right=0.499)
    text = shown(browser, f"{HERO} .values").split("\n")
    assert text[0] == "round 250"
    with robai.Store.reader(pages / "live.db") as reader:
        row = reader.open("live").table()[1]
    assert text[1] == "B"
    found = [float(text[2]), *map(float, text[3].split(" to "))]
    assert found == pytest.approx([row.mean, row.lower, row.upper], rel=1e-3)


def test_a_point_is_found_by_the_pointer(browser, pages):
    browser.open(pages / "compare.html")
    browser.hover(".two figure:nth-child(2) .u-over")
    assert "regret" in shown(browser, ".two figure:nth-child(2) .values")


def test_a_curve_is_hidden_by_its_name_and_comes_back(browser, pages):
    browser.open(pages / "compare.html")
    before = drawn(browser)
    browser.click(f"{HERO} .key:nth-child(4)")
    browser.hover("h1")
    assert browser.run(f"document.querySelectorAll('{HERO} .key')[3].ariaPressed") == "false"
    assert drawn(browser) != before
    browser.hover(OVER)
    assert "BAIETC()" not in shown(browser, f"{HERO} .values")
    browser.click(f"{HERO} .key:nth-child(4)")
    browser.hover("h1")
    assert drawn(browser) == before


def test_a_figure_is_zoomed_by_dragging_and_by_buttons(browser, pages):
    browser.open(pages / "compare.html")
    before = drawn(browser)
    browser.drag(OVER, -0.25, 0.25)
    assert browser.run(f"document.querySelector('{HERO}').classList.contains('zoomed')")
    browser.hover(OVER, right=-0.499)
    assert shown(browser, f"{HERO} .values").startswith("round 10\n")  # a quarter of the way to 10,000
    browser.click(f"{HERO} [data-zoom=all]")
    browser.hover("h1")
    assert drawn(browser) == before
    browser.click(f"{HERO} [data-zoom=in]")
    browser.hover("h1")
    assert drawn(browser) != before
    browser.click(f"{HERO} [data-zoom=out]")
    browser.hover("h1")
    assert drawn(browser) == before


def column(browser, place):
    rows = "[...document.querySelectorAll('#numbers ~ .table tbody tr')]"
    return browser.run(f"{rows}.map(row => row.cells[{place}].innerText)")


def test_a_table_is_sorted_by_its_titles(browser, pages):
    browser.open(pages / "compare.html")
    names, regrets = column(browser, 0), column(browser, 2)
    numbers = sorted(float(each.split(" ")[0]) for each in regrets)
    title = "#numbers ~ .table th:nth-child(3) .sort"
    browser.click(title)
    assert [float(each.split(" ")[0]) for each in column(browser, 2)] == numbers
    assert browser.run("document.querySelector('#numbers ~ .table th:nth-child(3)').ariaSort") == "ascending"
    browser.click(title)
    assert [float(each.split(" ")[0]) for each in column(browser, 2)] == numbers[::-1]
    browser.click(title)
    assert column(browser, 0) == names
    browser.click("#numbers ~ .table th:nth-child(5) .sort")
    assert column(browser, 4)[-1] == "-"  # of UCB, which never commits
    browser.click("#numbers ~ .table th:nth-child(1) .sort")
    assert column(browser, 0) == sorted(names)


def test_columns_are_explained_by_pointer_and_by_tap(browser, pages):
    browser.open(pages / "compare.html")
    assert shown(browser, "#tip") is None
    browser.hover("#numbers ~ .table th:nth-child(3)")
    assert "the mean of all runs" in shown(browser, "#tip")
    browser.hover("h1")
    assert shown(browser, "#tip") is None
    browser.open(pages / "compare.html", width=390, phone=True)
    browser.tap("#numbers ~ .table th:nth-child(3) .about")
    assert "the mean of all runs" in shown(browser, "#tip")
    box = browser.run(
        "(({left, right}) => [left, right])(document.querySelector('#tip').getBoundingClientRect())"
    )
    assert box[0] >= 0
    assert box[1] <= 390
    browser.tap("h1")
    assert shown(browser, "#tip") is None


def background(browser):
    return browser.run("getComputedStyle(document.body).backgroundColor")


def test_the_page_is_dark_if_the_system_is_or_if_asked(browser, pages):
    browser.open(pages / "compare.html")
    light, figure = background(browser), drawn(browser)
    browser.open(pages / "compare.html", dark=True)
    dark = background(browser)
    assert dark != light
    assert drawn(browser) != figure
    browser.click("#theme")
    assert background(browser) == light
    browser.hover("h1")
    assert drawn(browser) == figure
    browser.click("#theme")
    assert background(browser) == dark
    browser.run("localStorage.clear()")


def test_verdicts_and_tables_are_read_without_javascript(browser, pages):
    browser.open(pages / "paper.html", script=False)
    text = browser.text()
    assert "holds" in text
    assert "EOCP reduces the final regret of UCB by 20" in text
    assert "Action elimination" in text
    assert "This figure needs JavaScript." in text
    assert "Zoom in" not in text


def test_the_keyboard_reaches_everything(browser, pages):
    browser.open(pages / "compare.html")
    reached = browser.run(
        "['#theme', '.key', '.sort', '.about', '.plot', '[data-zoom=in]', '.table'].map(each => "
        "{ const it = document.querySelector(each); it.focus(); return document.activeElement === it; })"
    )
    assert all(reached)


def test_texts_stand_out_from_what_is_behind_them(browser, pages):
    """At least 4.5:1, of every text that is shown."""
    for dark in (False, True):
        browser.open(pages / "paper.html", dark=dark)
        found = browser.run(CONTRASTS)
        assert len(found) > 100
        assert min(found, key=lambda each: each[0])[0] >= 4.5, min(found)


CONTRASTS = """
(() => {
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) + 0.05;
  const behind = it => {
    const own = parts(getComputedStyle(it).backgroundColor);
    return own[3] === 0 ? behind(it.parentElement) : own;
  };
  const out = [];
  for (const it of document.querySelectorAll('main *, header *, nav *')) {
    if (!it.offsetParent || ![...it.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    const a = light(parts(getComputedStyle(it).color)), b = light(behind(it));
    out.push([Math.max(a, b) / Math.min(a, b), it.className, it.innerText.slice(0, 40)]);
  }
  return out;
})()
"""
