"""Evidence where variances are unknown, see student.pyx."""

from robai._core.protocols cimport Arms

cdef double student_evidence(const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil
cdef double least_evidence(const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil
cdef double least_certainty(const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil
