"""Which declarations of the core a module was compiled against.

Whatever a module cimports from the core, it asks for this class when it is imported: rng.pxd, which all
others build on, refers to it. A core with other declarations has a class of another number, and says so.

The number is `ABI` of protocols.pxd. Raise both when a struct, or the attributes or C methods of a class, in
a .pxd file change.
"""


cdef class Abi1:
    pass
