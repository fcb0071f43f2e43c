"""Loops: each round is a pair of times in nanoseconds, of its first call and of all that counts of it."""
import threading
import time

from crew import Crew
from measures import micros, quantile
from plan import Mistake


def free(plan):
    """Locks that nobody else wants, over and over, in one session; a thread each."""
    client = plan.connect()
    paths = [f"{plan.path()}-{i}" for i in range(plan.number("locks", 1, 1))]
    return repeat(plan, [locks_and_unlocks(client.Lock(path)) for path in paths])


def floor(plan):
    """What locks are made of, without a lock."""
    floors = {"create": creates, "createdelete": creates_and_deletes, "event": sees_deletes}
    what = plan.text("what", "createdelete")
    if what not in floors:
        raise Mistake(f"what={what}: the floors of ZooKeeper are {', '.join(floors)}")
    client = plan.connect()
    paths = [f"{plan.path()}-{i}" for i in range(plan.number("inflight", 1, 1))]
    for path in paths:
        client.ensure_path(path)
    return repeat(plan, [floors[what](client, path) for path in paths])


def locks_and_unlocks(lock):
    def cycle():
        start = time.monotonic_ns()
        lock.acquire()
        acquired = time.monotonic_ns()
        lock.release()
        return acquired - start, time.monotonic_ns() - start

    return cycle


def creates(client, path):
    def cycle():
        start = time.monotonic_ns()
        create(client, path)
        took = time.monotonic_ns() - start
        return took, took

    return cycle


def creates_and_deletes(client, path):
    def cycle():
        start = time.monotonic_ns()
        node = create(client, path)
        created = time.monotonic_ns()
        client.delete(node)
        return created - start, time.monotonic_ns() - start

    return cycle


def sees_deletes(client, path):
    """Of a delete: its answer, and its event. What comes before it is not timed."""

    def cycle():
        node, seen, at = create(client, path), threading.Event(), []

        def see(_event):
            at.append(time.monotonic_ns())
            seen.set()

        client.exists(node, see)
        start = time.monotonic_ns()
        client.delete(node)
        answered = time.monotonic_ns()
        seen.wait()
        return answered - start, at[0] - start

    return cycle


def create(client, path):
    return client.create(path + "/n-", ephemeral=True, sequence=True)


def repeat(plan, loops):
    """First some cycles of each that do not count, then for as long as the window."""
    warm = plan.number("warm", 200, 0)
    window = plan.number("ms", 2_000, 1) * 1_000_000
    together(loops, lambda done: done < warm)
    cpu, start = time.process_time_ns(), time.monotonic_ns()
    times = together(loops, lambda _done: time.monotonic_ns() - start < window)
    took, wholes = time.monotonic_ns() - start, [whole for _, whole in times]
    return {
        "cycles": len(times),
        "warmed": warm * len(loops),
        "p50": quantile(0.5, wholes),
        "p99": quantile(0.99, wholes),
        "perSecond": round(len(times) * 1e9 / took, 1),
        "clientCpu": micros((time.process_time_ns() - cpu) / len(times)),
        "acquireP50": quantile(0.5, [first for first, _ in times]),
    }


def together(loops, goes_on):
    times, crew = [], Crew()

    def run(cycle):
        mine = []
        while goes_on(len(mine)):
            mine.append(cycle())
        times.extend(mine)

    for cycle in loops:
        crew.start(run, cycle)
    crew.join()
    return times
