import threading
import time

from crew import Crew
from measures import micros, quantile
from plan import Mistake

SLOW_NANOS = 50_000_000
NOISE_EVERY_SECONDS = 0.002


def fresh(plan):
    """Clients with a session each, that want the same lock again as soon as they have let go of it."""
    clients, rounds = plan.number("clients", 2, 2), plan.number("rounds", 50, 1)
    warm, hold = plan.number("warm", 5, 0), plan.number("hold", 5, 0) / 1_000
    locks = [plan.connect().Lock(plan.path()) for _ in range(clients)]
    if plan.text("noise", "0") == "1":
        threading.Thread(target=make_noise, args=(plan,), daemon=True).start()
    grants, crew = Grants(warm * clients), Crew()

    def contend(id):
        for _ in range(warm + rounds):
            grants.requesting()
            locks[id].acquire()
            grants.granted(id)
            time.sleep(hold)
            grants.releasing()
            locks[id].release()

    for id in range(clients):
        crew.start(contend, id)
    crew.join()
    return grants.result()


class Grants:
    """Who was granted what when. A hand-off counts when somebody was waiting as the one before let go."""

    def __init__(self, uncounted):
        self.uncounted, self.count, self.last = uncounted, 0, None
        self.times, self.same_twice, self.is_contested, self.released = [], 0, False, 0
        # Appends and pops of one list are safe between threads; a sum is not.
        self.waiting = []

    def requesting(self):
        self.waiting.append(None)

    def granted(self, id):
        self.waiting.pop()
        if self.is_contested and self.count >= self.uncounted:
            self.times.append(time.monotonic_ns() - self.released)
            self.same_twice += id == self.last
        self.count, self.last = self.count + 1, id

    def releasing(self):
        self.is_contested = len(self.waiting) > 0
        self.released = time.monotonic_ns()

    def result(self):
        count = len(self.times)
        if count == 0:
            raise Mistake("no hand-off was counted: give more rounds")
        return {
            "mean": micros(sum(self.times) / count),
            "p50": quantile(0.5, self.times),
            "p99": quantile(0.99, self.times),
            "max": quantile(1, self.times),
            "over50ms": sum(nanos > SLOW_NANOS for nanos in self.times),
            "handoffs": count,
            "sameTwice": round(self.same_twice / count, 4),
        }


def make_noise(plan):
    """Writes that have nothing to do with any lock, from a connection of their own, until the program ends."""
    client = plan.connect()
    client.ensure_path("/noise")
    while True:
        client.set("/noise", b"")
        time.sleep(NOISE_EVERY_SECONDS)
