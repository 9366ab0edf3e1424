from collections.abc import Callable
from sqlite3 import Connection
from typing import Any, Self, TypeVar, final

from robai._core.lock import Lock

_T = TypeVar("_T")
_Call = tuple[Callable[..., Any], tuple[Any, ...]]

def call_all(calls: tuple[_Call, ...]) -> None: ...
def end(connection: Connection, wait: Callable[[], object], calls: tuple[_Call, ...]) -> None: ...

@final
class Cache:
    valid: bool
    def __new__(cls) -> Self: ...

@final
class Turns:
    lock: Lock
    def __new__(cls) -> Self: ...
    @property
    def mine(self) -> bool: ...
    def take(
        self,
        connect: Callable[[], tuple[Connection, str, Callable[[], object], tuple[_Call, ...]]],
        operation: Callable[..., _T],
        arguments: tuple[Any, ...],
        cache: Cache | None = None,
    ) -> _T: ...
