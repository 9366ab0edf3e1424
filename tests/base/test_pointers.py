import copy
import ctypes
import math
import pickle
import sys
import types

import pytest

from robai._base.pointers import Pointer, is_pointer

LIBRARY = ctypes.CDLL(None)
COS = ctypes.cast(LIBRARY.cos, ctypes.c_void_p).value


def call(pointer, x):
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(pointer.address())(x)


@pytest.fixture
def module():
    """A module that other texts can name."""
    made = types.ModuleType("pointed_at")
    made.inner = types.SimpleNamespace(cos=LIBRARY.cos, address=COS, python=math.cos)
    sys.modules["pointed_at"] = made
    yield made
    del sys.modules["pointed_at"]


def test_all_kinds_lead_to_the_function(module):
    for given in (LIBRARY.cos, COS, "pointed_at:inner.cos", "pointed_at:inner.address"):
        assert call(Pointer.of("func", given, 1, ""), 0.5) == math.cos(0.5)


def test_numba():
    numba = pytest.importorskip("numba")
    double = numba.cfunc("float64(float64)")(lambda x: 2 * x)
    assert is_pointer(double)
    assert call(Pointer.of("func", double, 1, ""), 1.5) == 3.0
    with pytest.raises(ValueError, match=r"func must take 2 parameters, got .* with 1"):
        Pointer.of("func", double, 2, "")


def test_only_a_name_leaves_the_process(module):
    named = Pointer.of("func", "pointed_at:inner.cos", 1, "")
    assert pickle.loads(pickle.dumps(named)) == named
    assert named.path == "pointed_at:inner.cos"
    for pointer in (Pointer.of("func", COS, 1, ""), Pointer.of("func", LIBRARY.cos, 1, "")):
        assert pointer.path is None
        assert copy.deepcopy(pointer) == pointer
        with pytest.raises(ValueError, match=r'give it as "package.module:object"'):
            pickle.dumps(pointer)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda x: x, TypeError, "func must be a numba.cfunc.*; write this"),
        (math.cos, TypeError, "; write this"),
        (None, TypeError, "got None"),
        (1.5, TypeError, "got 1.5"),
        (True, TypeError, "got True"),
        (ctypes.c_int, TypeError, "got <class"),
        (0, ValueError, "func must be from 1"),
        (-5, ValueError, "func must be from 1"),
        ("no colon", ValueError, "package.module:object"),
        ("a:", ValueError, "package.module:object"),
        (ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_double)(COS), ValueError, "must take 1 parameters"),
        (ctypes.CFUNCTYPE(None, ctypes.c_double)(), ValueError, "func must be from 1"),
    ],
)
def test_what_is_no_pointer(given, error, message):
    with pytest.raises(error, match=message):
        Pointer.of("func", given, 1, "this")


def test_what_a_name_does_not_lead_to(module):
    for name in ("pointed_at:inner.sin", "pointed_at_nothing:cos"):
        with pytest.raises(ValueError, match=f"there is no '{name}'"):
            Pointer.of("func", name, 1, "").address()
    with pytest.raises(TypeError, match=r"'pointed_at:inner.python' must be"):
        Pointer.of("func", "pointed_at:inner.python", 1, "").address()
