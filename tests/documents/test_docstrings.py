"""Every public name has a docstring that says what its parameters are and shows how it is used."""

import ast
import doctest
import importlib
import inspect
import itertools
import re
import sys
from pathlib import Path

import pytest
from support import public

from robai import rules
from robai._base.spec import Kind, Spec, parameter, spec

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    for path in (ROOT / "robai").rglob("*.py")
)
NAMES = public.names()
DATA = [name for name, value in NAMES.items() if not (callable(value) or hasattr(value, "__get__"))]
CALLED = [
    name
    for name, value in NAMES.items()
    if inspect.isfunction(value) or (inspect.isclass(value) and not issubclass(value, Exception))
]


def text(name):
    return inspect.getdoc(NAMES[name]) or ""


def section(name, *titles):
    """The text of the sections of a docstring that have these titles."""
    title, dashes = "|".join(titles), "-{3,}"
    return "\n".join(
        re.findall(rf"^(?:{title})\n{dashes}\n(.*?)(?=^\w[\w ]*\n{dashes}\n|\Z)", text(name), re.S | re.M)
    )


def parameters(name):
    if getattr(NAMES[name], "_is_protocol", False):  # which nobody calls
        return set()
    return set(inspect.signature(NAMES[name]).parameters) - {"self", "cls"}


@pytest.fixture
def figures():
    """Drawn in memory, and closed afterwards."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.mark.parametrize("name", [name for name in MODULES if name != "robai.__main__"])
def test_the_examples_of_docstrings_run(name, figures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(importlib.import_module(name)).failed == 0
    assert not list(tmp_path.iterdir())


def test_what_is_returned_is_found():
    kinds = {name.rpartition(".")[2] for name, value in NAMES.items() if inspect.isclass(value)}
    assert {"EOCP", "Result", "Sweep", "Digest", "Errors", "Complexity", "Parts", "Row", "Mean"} <= kinds
    assert {"robai._base.spec.Spec.to_dict", "robai.result.figures.Plottable.plot"} <= set(NAMES)
    assert len(NAMES) > 400


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DATA])
def test_a_name_has_a_docstring(name):
    assert text(name).split("\n\n")[0].rstrip().endswith((".", ")", ":"))


# Not of properties, which are read, nor of exceptions, which are shown where they are raised.
@pytest.mark.parametrize("name", CALLED)
def test_what_is_called_is_shown_in_use(name):
    examples = doctest.DocTestParser().get_examples(section(name, "Examples"))
    assert examples
    assert any(each.want for each in examples)


@pytest.mark.parametrize("name", CALLED)
def test_every_parameter_is_described(name):
    titles = ("Parameters", "Attributes") if inspect.isclass(NAMES[name]) else ("Parameters",)
    headers = re.findall(r"^[\w*].*$", section(name, *titles), re.M)
    described = {each.strip(" *") for header in headers for each in header.split(" : ")[0].split(",")}
    assert parameters(name) <= described


@pytest.mark.parametrize("module", public.MODULES, ids=lambda module: module.__name__)
def test_a_module_is_shown_in_use(module):
    assert doctest.DocTestParser().get_examples(module.__doc__)


@pytest.mark.parametrize("name", DATA)
def test_data_has_a_text_below_it(name):
    module, _, variable = name.rpartition(".")
    for source in _sources(sys.modules[module]):
        body = ast.parse(source.read_text()).body
        for statement, after in itertools.pairwise(body):
            target = getattr(statement, "target", None) or next(iter(getattr(statement, "targets", [])), None)
            if getattr(target, "id", None) == variable:
                assert isinstance(after, ast.Expr)
                assert isinstance(after.value.value, str)
                return
    pytest.fail(f"{name} is assigned nowhere")


def _sources(module):
    path = Path(module.__file__)
    return path.parent.glob("*.py") if path.name == "__init__.py" else [path]


# ---- the parameters of specifications, which are listed by their kinds

WIDTH = Kind(lambda name, value: value, "width of a bonus")


@spec
class Wide(Spec):
    """A wide one.

    It has a second paragraph.

    Parameters
    ----------
    other
        What is its own.

    Examples
    --------
    >>> 1
    1
    """

    width: float = parameter(WIDTH)
    other: "float | None" = parameter(WIDTH, default=None)


@spec
class Wider(Wide):
    """A wider one."""

    other: "float | None" = parameter(WIDTH, default=2.0)
    unknown: "Missing" = parameter(Kind(WIDTH.check, "c of a formula"), default=1.0)  # noqa: F821


WIDE = """A wide one.

It has a second paragraph.

Parameters
----------
width : float
    Width of a bonus.
other : float or None, default None
    What is its own.

Examples
--------
>>> 1
1"""

WIDER = """A wider one.

Parameters
----------
width : float
    Width of a bonus.
other : float or None, default 2.0
    What is its own.
unknown : default 1.0
    c of a formula."""


def test_parameters_are_listed_by_their_kinds():
    assert Wide.__doc__ == Wide(1.0).__doc__ == WIDE
    assert Wider.__doc__ == WIDER
    assert rules.Never.__doc__.startswith("Explore to the horizon")
    assert "Parameters" not in rules.Never.__doc__


def test_types_are_as_people_write_them():
    shown = dict(re.findall(r"^(\w+) : (.*)$", rules.BernsteinBound.__doc__, re.M))
    assert shown["constant"] == "{'audibert', 'maurer-pontil'}, default 'audibert'"
    shown = dict(re.findall(r"^(\w+) : (.*)$", rules.KnownGap.__doc__, re.M))
    assert shown["sigma"] == "float, sequence of float or None, default None"


# ---- as a page: what numpydoc makes of them, docutils has to understand


@pytest.fixture(scope="module")
def rendered():
    """A function from a docstring to what docutils complains of, with the names that Sphinx would know."""
    numpydoc, core = pytest.importorskip("numpydoc.docscrape_sphinx"), pytest.importorskip("docutils.core")
    from docutils import nodes
    from docutils.parsers.rst import directives, roles
    from docutils.parsers.rst.directives.admonitions import Note

    directives.register_directive("seealso", Note)
    roles.register_local_role("obj", roles.GenericRole("obj", nodes.literal))

    def complaints(value):
        text = str(numpydoc.get_doc_object(value, config={"show_class_members": False}))
        tree = core.publish_doctree(text, settings_overrides={"report_level": 5, "halt_level": 6})
        return [each.astext() for each in tree.findall(nodes.system_message)]

    return complaints


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DATA])
def test_a_docstring_is_a_page(name, rendered):
    assert rendered(NAMES[name]) == []


@pytest.mark.parametrize("module", public.MODULES, ids=lambda module: module.__name__)
def test_the_docstring_of_a_module_is_a_page(module, rendered):
    assert rendered(module) == []


# Sections that are unknown or out of order; parameters that are not there, or in another order; what is
# returned; a summary of more than a line.
CODES = {"GL06", "GL07", "PR02", "PR03", "PR10", "RT01", "SS06"}


@pytest.mark.parametrize("name", [name for name in CALLED if NAMES[name].__doc__])
def test_a_docstring_is_in_the_form_of_numpydoc(name):
    validate = pytest.importorskip("numpydoc.validate").validate
    assert [text for code, text in validate(name)["errors"] if code in CODES] == []
