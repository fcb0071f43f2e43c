"""Lines that all pass at once."""
import re
import socket
import threading
import time

from crew import Crew
from measures import micros, millis, quantile, told, untold

WARM_LINES, WARM_WAITERS = 3, 20
WATCHED_WITHIN_SECONDS = 300


def drain(plan):
    """A line of waiters in one session, a thread and a Lock object each."""
    client, waiters = plan.connect(), plan.number("n", 100, 1)
    for _ in range(WARM_LINES):
        line(client, plan.endpoint, (plan.path() + "-warm", WARM_WAITERS, untold))
    return line(client, plan.endpoint, (plan.path(), waiters, told))


def chain(plan):
    """The floor of hand-offs: nodes that fall one after the other, each deleted when its predecessor is seen deleted."""
    client, links = plan.connect(), plan.number("n", 100, 1)
    for i in range(WARM_LINES):
        fall(client, (f"{plan.path()}-warm{i}", WARM_WAITERS, untold))
    return fall(client, (plan.path(), links, told))


def line(client, endpoint, queue):
    path, waiters, stage = queue
    passage, crew, holder = Passage(), Crew(), client.Lock(path)
    holder.acquire()
    before = watches(endpoint)
    stage("connected")
    arrival = time.monotonic_ns()

    def wait():
        lock = client.Lock(path)
        lock.acquire()
        passage.step()
        lock.release()

    for _ in range(waiters):
        crew.start(wait)
    await_watches(endpoint, before + waiters, crew)
    enqueue = time.monotonic_ns() - arrival
    stage("ready")
    passage.begin()
    holder.release()
    crew.join()
    return passage.result(enqueue)


def fall(client, queue):
    path, links, stage = queue
    passage, last, nodes = Passage(), threading.Event(), [f"{path}/{i}" for i in range(links)]
    answers = []
    client.ensure_path(path)
    stage("connected")
    arrival = time.monotonic_ns()

    def follow(successor):
        def see(_event):
            passage.step()
            if successor < links:
                answers.append(client.delete_async(nodes[successor]))
            else:
                last.set()

        return see

    for i, node in enumerate(nodes):
        client.create(node, ephemeral=True)
        client.exists(node, follow(i + 1))
    enqueue = time.monotonic_ns() - arrival
    stage("ready")
    passage.begin()
    client.delete(nodes[0])
    last.wait()
    for answer in answers:
        answer.get()
    client.delete(path)
    return passage.result(enqueue)


class Passage:
    """The times from each release call until the next one knows."""

    def begin(self):
        self.times, self.cpu, self.released = [], time.process_time_ns(), time.monotonic_ns()

    def step(self):
        """To be called by whoever knows that it is its turn, before it lets the next one go."""
        now = time.monotonic_ns()
        self.times.append(now - self.released)
        self.released = now

    def result(self, enqueue):
        return {
            "p50": quantile(0.5, self.times),
            "p99": quantile(0.99, self.times),
            "totalMs": millis(sum(self.times)),
            "enqueueMs": millis(enqueue),
            "clientCpu": micros((time.process_time_ns() - self.cpu) / len(self.times)),
        }


def watches(endpoint):
    """How many watches the server keeps, for all clients."""
    host, port = endpoint.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"wchs")
        answer = connection.makefile().read()
    found = re.search(r"Total watches:(\d+)", answer)
    if found is None:
        raise RuntimeError(f"ZooKeeper on {endpoint} answers to wchs: {answer.strip()}")
    return int(found[1])


def await_watches(endpoint, count, crew):
    """Returns when the server keeps so many watches; raises early when one of the crew has failed."""
    deadline = time.monotonic() + WATCHED_WITHIN_SECONDS
    # The server goes through all of them to count them.
    pause = (2 + count / 100) / 1_000
    while watches(endpoint) < count:
        crew.check()
        if time.monotonic() > deadline:
            raise RuntimeError(f"ZooKeeper on {endpoint} has no {count} watches after 5 minutes")
        time.sleep(pause)
