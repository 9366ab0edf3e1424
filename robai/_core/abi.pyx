"""The number of the core's declarations, see abi.pxd."""

cimport cython

import re

cdef extern from *:
    bint CYTHON_USE_TYPE_SPECS


@cython.final
cdef class Abi1:
    """The declarations of this core."""


if not CYTHON_USE_TYPE_SPECS:
    static_classes = True


def __getattr__(name):
    if name == "static_classes":
        raise ImportError(
            "this robai is of the stable ABI, and this module was compiled for another: compile it with "
            "CYTHON_USE_TYPE_SPECS=1 among its define_macros, or CFLAGS=-DCYTHON_USE_TYPE_SPECS=1")
    asked = re.fullmatch("Abi([0-9]+)", name)
    if asked is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    own = re.fullmatch("Abi([0-9]+)", Abi1.__name__)
    raise ImportError(
        f"this module was compiled for ABI {asked[1]} of robai's core, and the robai that is installed has "
        f"ABI {own[1]}: compile it again")
