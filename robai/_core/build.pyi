ABI: int
COMPILER: str
FLAGS: str
CYTHON: str
