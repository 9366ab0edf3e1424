"""The extension modules and their compiler settings; everything else is in pyproject.toml.

``ROBAI_DEBUG=1 pip install .`` builds a slow version that checks every array access.
"""

import os
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = bool(os.environ.get("ROBAI_DEBUG"))

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": DEBUG,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
}

# No -march=native: wheels run elsewhere. No -ffast-math: infinities and NaN have a meaning here.
# No contraction to fused multiply-add: the same seed gives the same arms on every processor.
WINDOWS = sys.platform == "win32"
FLAGS = ["/O2"] if WINDOWS else ["-O2", "-ffp-contract=off", "-fno-math-errno"]
SMALL = [] if WINDOWS or DEBUG else ["-g0"]  # Python's own flags ask for debug information
STRIP = ["-Wl,-s"] if sys.platform == "linux" and not DEBUG else []
RANDOM = Path(numpy.get_include()).parents[1] / "random" / "lib"

# NumPy's samplers are linked statically: which ones is known here alone.
MACROS = {"rng": [("ROBAI_NUMPY", f'"{numpy.__version__}"')]}

extensions = [
    Extension(
        f"robai._core.{path.stem}",
        [str(path)],
        include_dirs=[numpy.get_include()],
        library_dirs=[str(RANDOM)],
        libraries=["npyrandom"] + ([] if WINDOWS else ["m"]),
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"), *MACROS.get(path.stem, [])],
        depends=[numpy.version.__file__],
        extra_compile_args=FLAGS + SMALL,
        extra_link_args=STRIP,
    )
    for path in sorted(Path("robai/_core").glob("*.pyx"))
]

# What every module with a memoryview would carry its own copy of: half of the build and of the wheel.
SHARED = "robai._core._shared"
extensions.append(
    Extension(SHARED, ["robai/_core/_shared.c"], extra_compile_args=FLAGS + SMALL, extra_link_args=STRIP)
)

cores = os.cpu_count() or 1
setup(
    ext_modules=cythonize(
        extensions, compiler_directives=DIRECTIVES, nthreads=cores, shared_utility_qualified_name=SHARED
    ),
    options={"build_ext": {"parallel": cores}},
)
