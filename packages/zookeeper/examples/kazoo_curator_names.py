"""kazoo's locks under the node names of Apache Curator.

Programs in Python (kazoo) that use these classes stand in one queue with Curator (Java) and with queuelock (Node), none of
which has to be told. Stock kazoo locks use names of their own and see nobody but themselves.

    lock = CuratorLock(client, "/jobs/invoices", identifier="python-1")
    with lock:
        ...

`_NODE_NAME` is what stands before the sequence number, `_EXCLUDE_NAMES` who is waited for: what kazoo's own WriteLock and
ReadLock are made of (kazoo 2.7.1 and later). Build a new object for each acquisition: a reused one does not make the path again if
the server has removed it, as it does with empty containers.
"""
from kazoo.recipe.lock import Lock


class CuratorLock(Lock):
    """With InterProcessMutex, LeaderSelector, and queuelock's exclusive locks."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


class CuratorWriteLock(Lock):
    """With InterProcessReadWriteLock.writeLock()."""

    _NODE_NAME = "-__WRIT__"
    _EXCLUDE_NAMES = ["__WRIT__", "__READ__"]


class CuratorReadLock(Lock):
    """With InterProcessReadWriteLock.readLock(). Not with kazoo before 2.9: there a reader also waits for writers behind it."""

    _NODE_NAME = "-__READ__"
    _EXCLUDE_NAMES = ["__WRIT__"]
