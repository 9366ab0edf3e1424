"""JSON as files hold it: parsed strictly, because what two readers understand differently proves nothing."""

from __future__ import annotations

import json
from typing import Any


def parse(text: str | bytes) -> Any:
    """The value of a JSON text; a ValueError for anything else, NaN and names given twice included."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for name, value in pairs:
        if name in data:
            raise ValueError(f"{name!r} is given twice")
        data[name] = value
    return data


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")
