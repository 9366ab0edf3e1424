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
cdef extern from *:
    """
    #include <string.h>
    static CYTHON_INLINE PyObject *robai_import(const char *name) {
        PyObject *abi, *own;
        if (strncmp(name, "robai._core.", 12) == 0 && name[12] != '_') {
            abi = PyImport_ImportModule("robai._core.abi");
            if (abi == NULL) return NULL;
            own = PyObject_GetAttrString(abi, "Abi1");
            Py_DECREF(abi);
            if (own == NULL) return NULL;
            Py_DECREF(own);
        }
        return PyImport_ImportModule(name);
    }
    #define PyImport_ImportModule(name) robai_import(name)
    """
