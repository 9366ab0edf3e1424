"""The reference: a page for each public module, with an entry for each of its public names.

Nothing is listed here but the modules: names are those of `__all__`, so that a new one has its entry at once.
The build warns of a public name or method that has none, and a warning ends it.
"""

import inspect
import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import robai

# Page: title, module, names that are not of its __all__ and have an entry all the same.
MODULES = {
    "simulation": ("Simulating, identifying, live experiments", "robai", ()),
    "result": ("Results", "robai.result", ()),
    "policies": ("Policies", "robai.policies", ("BasePolicy",)),
    "rules": ("Rules", "robai.rules", ()),
    "bandits": ("Bandits", "robai.bandits", ("Bandit",)),
    "families": ("Reward families", "robai.families", ()),
    "priors": ("Priors", "robai.priors", ()),
    "kl": ("Divergences", "robai.kl", ()),
    "theory": ("Theory", "robai.theory", ()),
    "plotting": ("Figures", "robai.plotting", ()),
    "custom": ("Policies written in Python", "robai.custom", ()),
}
PARTS = {"Functions": inspect.isroutine, "Classes": inspect.isclass, "Data": lambda thing: True}


def listed(module, more=()):
    """Public names of a module by their shortest path: `robai.UCB`, not `robai.policies.UCB`."""
    for name in sorted({*module.__all__, *more}, key=str.lower):
        thing = getattr(module, name)
        if not inspect.ismodule(thing):
            top = getattr(robai, name, None) is thing and name in robai.__all__
            yield f"robai.{name}" if top else f"{module.__name__}.{name}", thing


def returned(thing):
    """The classes of the package that a function, or a method or property of a class, says it returns."""
    members = inspect.getmembers_static(thing) if inspect.isclass(thing) else [("", thing)]
    for name, member in members:
        function = getattr(member, "fget", getattr(member, "__func__", member))
        names = getattr(function, "__globals__", {}) if not name.startswith("_") else {}
        for word in re.findall(r"[\w.]+", str(getattr(function, "__annotations__", {}).get("return", ""))):
            first, *rest = word.split(".")
            kind = reduce(lambda here, each: getattr(here, each, None), rest, names.get(first))
            if inspect.isclass(kind):
                path = f"{kind.__module__}.{kind.__name__}"
                if path.startswith("robai.") and "._" not in path:
                    yield path, kind


def entries():
    """(page, path, object) of every public name, once: with its own module before the package itself.

    What is returned by what is listed has an entry too, after it.
    """
    seen, found = set(), []
    for page, (_, path, more) in sorted(MODULES.items(), key=lambda each: each[1][1] == "robai"):
        found += [(page, *each) for each in listed(import_module(path), more)]
    for page, name, thing in found:
        if id(thing) not in seen:
            seen.add(id(thing))
            found += [(page, *each) for each in returned(thing)]
            yield page, name, thing


def text(page):
    """The page of a module, in reStructuredText."""
    title, module, _ = MODULES[page]
    # Not by automodule, after which autosummary takes every name for one of the module's.
    lines = [title, "=" * len(title), "", inspect.getdoc(import_module(module)), ""]
    left = [(name, thing) for where, name, thing in entries() if where == page]
    for heading, belongs in PARTS.items():
        part = [name for name, thing in left if belongs(thing)]
        left = [(name, thing) for name, thing in left if name not in part]
        if part:
            lines += [heading, "-" * len(heading), "", ".. autosummary::", "   :nosignatures:"]
            lines += ["   :toctree: names", ""]
            lines += [*(f"   {name}" for name in part), ""]
    return "\n".join(lines)


def write(app, config):
    folder = Path(app.srcdir) / "reference"
    for page in MODULES:
        (folder / f"{page}.rst").write_text(text(page))


SPEC = inspect.getmro(robai.policies.BasePolicy)[
    1
]  # what every policy, rule and bandit has; shown with the bases


def methods(path, thing):
    """The documented methods and properties that a class has from the package."""
    for name, member in inspect.getmembers_static(thing):
        owner = next(each for each in thing.__mro__ if name in vars(each))
        kinds = isinstance(member, (classmethod, staticmethod, property)) or inspect.isroutine(member)
        own = owner.__module__.startswith("robai.") and owner is not SPEC
        if kinds and own and not name.startswith("_") and inspect.getdoc(member):
            yield f"{path}.{name}"


def check(app, env):
    from sphinx.util import logging  # here: the tests read the names without Sphinx

    known = env.domains.python_domain.objects
    for _, path, thing in entries():
        for name in [path, *(methods(path, thing) if inspect.isclass(thing) else ())]:
            if name not in known:
                logging.getLogger(__name__).warning("%s is public and is not in the reference", name)


def setup(app):
    app.connect("config-inited", write)  # before pages are looked for
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
