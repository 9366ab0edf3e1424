"""Which declarations of the core a module was compiled against.

Whatever a module cimports from the core, it asks for this class when it is imported: rng.pxd and levels.pxd,
which all others build on, refer to it. A core with other declarations has a class of another number, and
says so.

The number is `ABI` of protocols.pxd. Raise all of them when a struct, or the attributes or C methods of a
class, in a .pxd file change.
"""


cdef class Abi1:
    pass


# A module imports the base of its own class, and compares the sizes of both, before it imports other classes.
# So that it is not that comparison that fails, the question comes before any import from the core.
#
# Classes are static or, in a wheel of the stable ABI, made at run time. An object of a static class with
# such a base gives up a reference to its class that nobody took: a module that has one is refused too.
cdef extern from *:
    """
    #include <string.h>
    static CYTHON_INLINE PyObject *robai_import(const char *name) {
        PyObject *abi, *own;
        if (strncmp(name, "robai._core.", 12) == 0 && name[12] != '_') {
            abi = PyImport_ImportModule("robai._core.abi");
            if (abi == NULL) return NULL;
            own = PyObject_GetAttrString(abi, "Abi1");
            Py_XDECREF(own);
            #if !CYTHON_USE_TYPE_SPECS
            if (own != NULL) {
                own = PyObject_GetAttrString(abi, "static_classes");
                Py_XDECREF(own);
            }
            #endif
            Py_DECREF(abi);
            if (own == NULL) return NULL;
        }
        return PyImport_ImportModule(name);
    }
    #define PyImport_ImportModule(name) robai_import(name)
    """
