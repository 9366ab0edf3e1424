"""`robai policies`: what there is, with a line each."""

import argparse
import inspect
from dataclasses import MISSING, fields

from robai._base.text import painted, wrapped
from robai.cli.output import to_json
from robai.policies import POLICIES


def add_options(parser: argparse.ArgumentParser) -> None:
    pass


def run(options: argparse.Namespace) -> None:
    listed = {}
    for name, policy in POLICIES.items():
        about = (inspect.getdoc(policy) or "").partition("\n")[0]
        needs = [each.name for each in fields(policy) if each.default is MISSING]
        defaults = {each.name: each.default for each in fields(policy) if each.default is not MISSING}
        listed[name] = {"about": about, "needs": needs, "defaults": defaults}
        if not options.json:
            parameters = [*needs, *(f"{parameter}={default}" for parameter, default in defaults.items())]
            print(painted("heading", f"{name:<20}") + wrapped(about, 20))
            print(" " * 20 + wrapped(", ".join(parameters), 20))
    if options.json:
        print(to_json(listed))
