"""A participant of a ZooKeeper queue: participant.py ENDPOINT NAME RECIPE ID ROUNDS HOLD_MS [TTL_MS]. See ../../protocol.ts."""
import json
import logging
import os
import queue
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.protocol.states import KazooState
from kazoo.recipe.lock import Lock, ReadLock, WriteLock

EXAMPLES = "../../../../packages/zookeeper/examples"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), EXAMPLES))
from kazoo_curator_names import CuratorLock, CuratorReadLock, CuratorWriteLock  # noqa: E402

# Lost connections are part of the story, which is told on the standard output; the error stream is for what nobody expects.
logging.getLogger("kazoo").setLevel(logging.CRITICAL)

RECIPES = {
    # kazoo as it is.
    "lock": Lock,
    "write": WriteLock,
    "read": ReadLock,
    # Curator's names: Curator stays as it is.
    "curator-lock": CuratorLock,
    "curator-write": CuratorWriteLock,
    "curator-read": CuratorReadLock,
    # kazoo's name, and an eye on Curator's.
    "extra-lock": lambda *args: Lock(*args, extra_lock_patterns=["-lock-"]),
}


class Participant:
    def __init__(self, endpoint, name, recipe, id, rounds, hold_ms, ttl_ms="10000"):
        if recipe not in RECIPES:
            raise ValueError(f"RECIPE: {recipe!r} is none of {', '.join(RECIPES)}")
        self.recipe, self.path, self.id = RECIPES[recipe], "/" + name, id
        self.rounds, self.hold_ms, self.n = int(rounds), int(hold_ms), 0
        # Lines of the standard input, `None` at its end; "lost" from the connection.
        self.told, self.ended, self.is_lost = queue.Queue(), False, False
        self.client = KazooClient(hosts=endpoint, timeout=int(ttl_ms) / 1000)
        self.client.add_listener(self.on_state)

    def say(self, ev, **fields):
        event = {"t": str(time.monotonic_ns()), "id": self.id, "ev": ev, "n": self.n, **fields}
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()

    def on_state(self, state):
        if state == KazooState.LOST:
            self.is_lost = True
            self.told.put("lost")

    def read_lines(self):
        for line in sys.stdin:
            self.told.put(line)
        self.ended = True
        self.told.put(None)

    def run(self):
        self.client.start(timeout=20)
        threading.Thread(target=self.read_lines, daemon=True).start()
        self.say("ready")
        if self.told.get() is not None:
            while not self.ended and self.n != (self.rounds or -1):
                self.n += 1
                self.round()
            self.n = 0
            self.say("done")
        self.client.stop()

    def round(self):
        self.say("requesting")
        lock = self.recipe(self.client, self.path, self.id)
        try:
            lock.acquire()
            self.is_lost = False
            created = self.client.exists(f"{self.path}/{lock.node}")
            if created is None:
                raise RuntimeError("the session expired while it was granted")
        except Exception as error:  # whatever it is, this round is over
            self.say("failed", message=repr(error))
            return
        # Of its own class name nothing is known here: the last ten digits are the server's.
        self.say("acquired", order=lock.node[-10:], token=str(created.czxid), key=lock.node)
        if self.hold():
            self.say("lost")
            return
        self.say("releasing")
        lock.release()
        self.say("released")

    def hold(self):
        """Whether it ended because of the loss."""
        until = None if self.hold_ms < 0 else time.monotonic() + self.hold_ms / 1000
        while not self.is_lost:
            try:
                told = self.told.get(timeout=None if until is None else max(0, until - time.monotonic()))
            except queue.Empty:
                break
            if told is None or (until is None and told != "lost"):
                break
        return self.is_lost


Participant(*sys.argv[1:]).run()
