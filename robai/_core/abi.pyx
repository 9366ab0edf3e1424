"""The number of the core's declarations, see abi.pxd."""

cimport cython

import re


@cython.final
cdef class Abi1:
    """The declarations of this core."""


def __getattr__(name):
    asked = re.fullmatch("Abi([0-9]+)", name)
    if asked is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    own = re.fullmatch("Abi([0-9]+)", Abi1.__name__)
    raise ImportError(
        f"this module was compiled for ABI {asked[1]} of robai's core, and the robai that is installed has "
        f"ABI {own[1]}: compile it again")
