"""The transactions of turns.pxd."""

cimport cython


def call_all(calls):
    """Functions with their arguments that unlock something, if it is locked: if not, Windows has an error."""
    for function, arguments in calls:
        try:
            function(*arguments)
        except OSError:
            pass


def end(connection, wait, calls):
    """Close a connection when the wait for one's turn is over, whichever way; then `call_all`."""
    try:
        wait()
    finally:
        try:
            connection.close()
        finally:
            call_all(calls)


@cython.final
cdef class Cache:
    """Cleared before memory is changed, and set when the file has the change."""


@cython.final
cdef class Turns:
    """Whose turn it is to change a database."""

    def __cinit__(self):
        self.lock = Lock()

    @property
    def mine(self):
        """Whether this thread is in the middle of a transaction."""
        return self._busy and self.lock.is_mine()

    def take(self, connect, operation, arguments, Cache cache=None):
        """Do `operation(*arguments)` in a transaction; its result when that is in the file.

        `connect()` is asked first, for the connection, what begins a transaction, a function that waits
        until no other process has its turn, and the calls, of functions in C, that let others have theirs.
        """
        self.lock.acquire()
        if self._busy and self.lock.depth == 1:         # by a thread that was not forked with this process
            self._busy = False
        if self._busy:
            self.lock.release()
            raise RuntimeError(
                "the store is in the middle of another call, from which this one was made (by a signal "
                "handler, or by a policy of yours); nothing has changed")
        self._busy = True
        try:
            connection, begin, wait, let_go = connect()
            execute = connection.execute
            try:
                wait()
                execute(begin)
                result = operation(*arguments)
                if not self.lock.is_mine():
                    raise RuntimeError(
                        "this process was forked in the middle of a transaction of its parent's")
                execute("COMMIT")
                if cache is not None:
                    cache.valid = True
                return result
            except BaseException:
                if connection.in_transaction and self.lock.is_mine():
                    execute("ROLLBACK")
                raise
            finally:
                if self.lock.is_mine():                 # what a child has of the lock is its parent's
                    call_all(let_go)
        finally:
            self._busy = False
            self.lock.release()
