"""How this core was built: by which compiler, with which flags, from C that which Cython wrote."""

from robai._core cimport protocols

cdef extern from *:
    """
    #define ROBAI_TEXT_(x) #x
    #define ROBAI_TEXT(x) ROBAI_TEXT_(x)
    #if defined(__clang__)
    #define ROBAI_COMPILER __VERSION__
    #elif defined(__GNUC__)
    #define ROBAI_COMPILER "gcc " __VERSION__
    #elif defined(_MSC_FULL_VER)
    #define ROBAI_COMPILER "MSVC " ROBAI_TEXT(_MSC_FULL_VER)
    #else
    #define ROBAI_COMPILER "unknown"
    #endif
    """
    const char* ROBAI_COMPILER
    const char* ROBAI_FLAGS             # defined by setup.py
    const unsigned int CYTHON_HEX_VERSION

ABI = protocols.ABI
COMPILER = ROBAI_COMPILER.decode()
FLAGS = ROBAI_FLAGS.decode()            # beside those that Python itself was compiled with
CYTHON = ".".join(str(CYTHON_HEX_VERSION >> shift & 0xFF) for shift in (24, 16, 8))
