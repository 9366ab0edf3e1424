"""The extension modules and their compiler settings; everything else is in pyproject.toml.

Two environment variables make slow versions that find errors (empty or 0: not):

    ROBAI_DEBUG=1                        checks every array access
    ROBAI_SANITIZE=address,undefined     what the compiler's -fsanitize takes

And one makes a wheel for CPython 3.12 and all that come after it, instead of for the one at hand:

    ROBAI_ABI3=1                         the stable ABI
"""

import os
import sys
import sysconfig
from pathlib import Path

import Cython
import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup


def asked_for(name: str) -> str:
    value = os.environ.get(name, "")
    return "" if value == "0" else value


DEBUG = bool(asked_for("ROBAI_DEBUG"))
SANITIZE = asked_for("ROBAI_SANITIZE")
ABI3 = bool(asked_for("ROBAI_ABI3"))
if ABI3 and (sys.version_info < (3, 12) or sysconfig.get_config_var("Py_GIL_DISABLED")):
    sys.exit("ROBAI_ABI3 needs CPython 3.12 or later that has a GIL")

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,  # also when debugging: an index below 0 is an error
    "initializedcheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
    "show_performance_hints": not DEBUG,
}

# No -march=native: wheels run elsewhere. No -ffast-math: infinities and NaN have a meaning here.
# No contraction to fused multiply-add: the same seed gives the same arms on every processor.
WINDOWS = sys.platform == "win32"
FLAGS = ["/O2"] if WINDOWS else ["-O2", "-ffp-contract=off", "-fno-math-errno"]
LINK_FLAGS = []
if SANITIZE:
    LINK_FLAGS = [f"-fsanitize={SANITIZE}"]
    # Python's own flags let integers wrap around, and then an overflow is no error.
    FLAGS += [*LINK_FLAGS, "-fno-sanitize-recover=all", "-fno-wrapv", "-fno-omit-frame-pointer", "-g1"]
elif not (WINDOWS or DEBUG):
    FLAGS += ["-g0"]  # Python's own flags ask for debug information
    LINK_FLAGS = ["-Wl,-s"] if sys.platform == "linux" else []
RANDOM = Path(numpy.get_include()).parents[1] / "random" / "lib"

# NumPy's samplers are linked statically: which ones is known here alone, as are the flags.
MACROS = {
    "rng": [("ROBAI_NUMPY", f'"{numpy.__version__}"')],
    "build": [("ROBAI_FLAGS", f'"{" ".join(FLAGS)}"')],
}

STABLE = [("CYTHON_LIMITED_API", "1"), ("Py_LIMITED_API", "0x030C0000")] if ABI3 else []

# Only a newer file makes others be made again, so the settings are one: a build in another environment, with
# the same compiler settings, Cython and NumPy, makes what has changed.
SETTINGS = Path("build/settings.txt")
settings = f"{DIRECTIVES} {FLAGS} {STABLE} {Cython.__version__} {numpy.__version__}\n"
changed = not SETTINGS.exists() or SETTINGS.read_text() != settings

CORE = Path("robai/_core")
declared = max((path.stat().st_mtime for path in CORE.glob("*.pxd")), default=0.0)


def source_of(module: Path) -> str:
    """The module, or the C file that was made of it: Cython sees its own declarations, which every isolated
    build installs anew, and would make all files again."""
    made = module.with_suffix(".c")
    newest = max(module.stat().st_mtime, declared)
    return str(module if changed or not made.exists() or made.stat().st_mtime < newest else made)


# What every module with a memoryview would carry its own copy of: half of the build and of the wheel.
SHARED = "robai._core._shared"
sources = {f"robai._core.{path.stem}": source_of(path) for path in sorted(CORE.glob("*.pyx"))}

extensions = [
    Extension(
        name,
        [source],
        include_dirs=[numpy.get_include()],
        library_dirs=[str(RANDOM)],
        libraries=["npyrandom"] + ([] if WINDOWS else ["m"]),
        define_macros=[
            ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
            *MACROS.get(Path(source).stem, []),
            *STABLE,
        ],
        depends=[str(SETTINGS)],
        extra_compile_args=FLAGS,
        extra_link_args=LINK_FLAGS,
        py_limited_api=ABI3,
    )
    for name, source in (sources | {SHARED: "robai/_core/_shared.c"}).items()
]

cores = os.cpu_count() or 1
modules = cythonize(
    extensions,
    compiler_directives=DIRECTIVES,
    nthreads=cores,
    force=changed,
    shared_utility_qualified_name=SHARED,
)
if changed:
    SETTINGS.parent.mkdir(exist_ok=True)
    SETTINGS.write_text(settings)
options = {"build_ext": {"parallel": cores}}
if ABI3:
    options["bdist_wheel"] = {"py_limited_api": "cp312"}
setup(ext_modules=modules, options=options)
