"""Compiled functions, however they are given."""

import copy
import ctypes
import math
import pickle
import sys
import types

import pytest

from robai._base.pointers import Pointer, Signature, is_pointer, need_used, resolve

DOUBLE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
SIGNATURE = Signature("float64(float64)", DOUBLE, "its.signature")
POINTED = Signature(
    "int64(CPointer(float64))", ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p), "its.signature"
)


@DOUBLE
def twice(x):
    return 2 * x


number = ctypes.cast(twice, ctypes.c_void_p).value
text = "support:nothing"


def plain(x):
    return x


def test_a_function_of_ctypes_and_its_address_are_the_same():
    found = resolve(twice, SIGNATURE)
    assert found == (number, twice)
    assert found.owner is twice
    assert resolve(number, SIGNATURE).address == number
    assert Pointer.of("func", twice, SIGNATURE) == Pointer.of("func", number, SIGNATURE)
    assert hash(Pointer.of("func", twice, SIGNATURE)) == hash(Pointer.of("func", number, SIGNATURE))
    assert Pointer.of("func", twice, SIGNATURE) != Pointer.of("func", number + 16, SIGNATURE)


@pytest.mark.parametrize("name", ["twice", "number"])
def test_a_name_is_looked_up_when_it_is_needed(name):
    pointer = Pointer.of("func", f"{__name__}:{name}", SIGNATURE)
    assert pointer.address() == number
    assert pointer == Pointer.of("func", f"{__name__}:{name}", SIGNATURE)
    assert Pointer.of("func", "no.such.module:object", SIGNATURE).path == "no.such.module:object"


@pytest.mark.parametrize(
    ("func", "error", "message"),
    [
        (plain, TypeError, r"func must be a numba.cfunc.*; write numba\.cfunc\(its\.signature\)\(plain\)$"),
        (None, TypeError, "func must be a numba.cfunc, a function of ctypes, an address or .*, got None"),
        (DOUBLE, TypeError, "func must be a numba.cfunc"),
        (True, TypeError, "got True"),
        (1.5, TypeError, r"got 1\.5"),
        (0, ValueError, "func must be from 1 to .*, got 0"),
        (-1, ValueError, "got -1"),
        (2**64, ValueError, "got 18446744073709551616"),
        (DOUBLE(), ValueError, "func must be from 1"),
        ("twice", ValueError, "\"package.module:object\" if it is a text, got 'twice'"),
        ("a b:c", ValueError, "got 'a b:c'"),
        ("a:", ValueError, "got 'a:'"),
        ("no.such.module:object", ValueError, "there is no 'no.such.module:object': No module named 'no'"),
        (f"{__name__}:nothing", ValueError, "there is no .*:nothing"),
        (f"{__name__}:plain", TypeError, r"test_pointers:plain' must be a numba.*\(plain\)$"),
        (f"{__name__}:text", TypeError, "must be a numba.cfunc"),
        (ctypes.pythonapi.Py_IsInitialized, TypeError, "must not need Python's lock"),
        (
            ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(lambda x, y: x),
            TypeError,
            r"func must be float64\(float64\), got .*, which is c_double\(c_double, c_double\)",
        ),
        (ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_double)(abs), TypeError, r"which is c_float\(c_double\)"),
        (ctypes.CFUNCTYPE(None, ctypes.c_double)(lambda x: None), TypeError, r"which is None\(c_double\)"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_such_function(func, error, message):
    with pytest.raises(error, match=message):
        resolve(func, SIGNATURE)


def test_pointers_are_pointers_to_anything():
    kinds = (ctypes.c_void_p, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int64))
    for kind in kinds:
        resolve(ctypes.CFUNCTYPE(ctypes.c_int64, kind)(lambda x: 0), POINTED)
    with pytest.raises(TypeError, match="c_double"):
        resolve(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double)(lambda x: 0), POINTED)


def test_a_library_that_declares_nothing():
    library = ctypes.CDLL(None)
    assert resolve(library.abs, SIGNATURE).owner is library.abs
    library = ctypes.CDLL(None)
    library.labs.restype = ctypes.c_double
    resolve(library.labs, SIGNATURE)
    library.labs.argtypes = [ctypes.c_long]
    with pytest.raises(TypeError, match=r"c_double\(c_long\)"):
        resolve(library.labs, SIGNATURE)


def test_numba():
    numba = pytest.importorskip("numba")
    compiled = numba.cfunc(SIGNATURE.text)(plain)
    assert resolve(compiled, SIGNATURE) == (compiled.address, compiled)
    assert repr(Pointer.of("func", compiled, SIGNATURE)) == "<plain, compiled>"
    with pytest.raises(TypeError, match=r"func must be float64\(float64\), got .*c_double\(c_long\)"):
        resolve(numba.cfunc("float64(int64)")(plain), SIGNATURE)
    with pytest.raises(TypeError, match=r"write numba.cfunc\(its.signature\)\(plain.py_func\)$"):
        resolve(numba.njit(plain), SIGNATURE)


def test_only_names_are_pickled():
    named = Pointer.of("draw", f"{__name__}:twice", SIGNATURE)
    assert pickle.loads(pickle.dumps(named)) == named
    pointer = Pointer.of("draw", twice, SIGNATURE)
    with pytest.raises(ValueError, match="address of this process"):
        pickle.dumps(pointer)
    assert copy.deepcopy(pointer) is pointer


def test_what_the_program_has_used():
    name = f"{__name__}:used_by_the_program"
    with pytest.raises(ValueError, match="which a file cannot ask for"):
        need_used(name)
    Pointer.of("func", name, SIGNATURE)
    need_used(name)


def test_what_a_pointer_is():
    assert is_pointer(twice)
    assert is_pointer(number)
    assert not any(map(is_pointer, (plain, DOUBLE, True, "a:b", None)))


# ---- names, and what is no function

LIBRARY = ctypes.CDLL(None)
COS = ctypes.cast(LIBRARY.cos, ctypes.c_void_p).value


def call(pointer, x):
    return DOUBLE(pointer.address())(x)


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
        assert call(Pointer.of("func", given, SIGNATURE), 0.5) == math.cos(0.5)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda x: x, TypeError, r"func must be a numba.cfunc.*; write numba.cfunc\(its.signature\)"),
        (math.cos, TypeError, r"; write numba.cfunc\(its.signature\)\(cos\)"),
        (None, TypeError, "got None"),
        (1.5, TypeError, "got 1.5"),
        (True, TypeError, "got True"),
        (ctypes.c_int, TypeError, "got <class"),
        (0, ValueError, "func must be from 1"),
        (-5, ValueError, "func must be from 1"),
        ("no colon", ValueError, "package.module:object"),
        ("a:", ValueError, "package.module:object"),
        (ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_double)(COS), TypeError, "must be float64"),
        (DOUBLE(), ValueError, "func must be from 1"),
    ],
)
def test_what_is_no_pointer(given, error, message):
    with pytest.raises(error, match=message):
        Pointer.of("func", given, SIGNATURE)


def test_what_a_name_does_not_lead_to(module):
    for name in ("pointed_at:inner.sin", "pointed_at_nothing:cos"):
        with pytest.raises(ValueError, match=f"there is no '{name}'"):
            Pointer.of("func", name, SIGNATURE).address()
    with pytest.raises(TypeError, match=r"'pointed_at:inner.python' must be"):
        Pointer.of("func", "pointed_at:inner.python", SIGNATURE).address()
