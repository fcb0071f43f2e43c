"""A client of the etcd queue, written from packages/FORMATS.md alone: etcd's HTTP gateway, and nothing but Python's library.

A participant of the protocol in ../../protocol.ts: etcd_queue.py ENDPOINT NAME RECIPE ID ROUNDS HOLD_MS [TTL_MS]
"""
import base64
import http.client
import json
import math
import queue
import sys
import threading
import time


def b64(text):
    return base64.b64encode(text.encode()).decode()


class Gateway:
    """Requests to etcd, one connection for each."""

    def __init__(self, endpoint):
        self.endpoint = endpoint

    def open(self, path, body, timeout):
        connection = http.client.HTTPConnection(self.endpoint, timeout=timeout)
        connection.request("POST", "/v3/" + path, json.dumps(body))
        return connection, connection.getresponse()

    def call(self, path, body):
        connection, response = self.open(path, body, 5)
        try:
            text = response.read()
            if response.status != 200:
                raise RuntimeError(f"{path}: {response.status} {text!r}")
            return json.loads(text)
        finally:
            connection.close()

    def until_deleted(self, key, revision):
        """Returns after the first deletion of the key after that revision, or when the watch broke."""
        order = {"create_request": {"key": b64(key), "start_revision": str(revision), "filters": ["NOPUT"]}}
        connection, response = self.open("watch", order, 3)
        try:
            for line in response:
                if json.loads(line).get("result", {}).get("events"):
                    return
        except (TimeoutError, OSError):
            return  # The caller reads again, so a broken watch costs a read only.
        finally:
            connection.close()


class Entry:
    """One entry of a queue, with a lease of its own."""

    def __init__(self, etcd, name, ttl_s):
        self.etcd, self.prefix, self.ttl_s = etcd, name + "/", ttl_s
        self.lease = etcd.call("lease/grant", {"TTL": str(ttl_s)})["ID"]
        self.proven_until = time.monotonic() + ttl_s
        self.key = self.prefix + format(int(self.lease), "x")
        self.left = threading.Event()
        threading.Thread(target=self.keep_alive, daemon=True).start()

    def keep_alive(self):
        while not self.left.wait(self.ttl_s / 4):
            sent = time.monotonic()
            try:
                reply = self.etcd.call("lease/keepalive", {"ID": self.lease})["result"]
                if int(reply.get("TTL", 0)) > 0:
                    self.proven_until = sent + int(reply["TTL"])
            except (RuntimeError, OSError):
                pass  # The proven time runs out by itself.

    @property
    def is_lost(self):
        return time.monotonic() >= self.proven_until - 0.5

    def acquire(self):
        put = {"requestPut": {"key": b64(self.key), "value": "", "lease": self.lease}}
        new = {"key": b64(self.key), "target": "CREATE", "result": "EQUAL", "create_revision": "0"}
        reply = self.etcd.call("kv/txn", {"compare": [new], "success": [put]})
        self.order = int(reply["header"]["revision"])
        while True:
            ahead, revision = self.predecessor()
            if ahead is None:
                return
            self.etcd.until_deleted(ahead, revision + 1)

    def predecessor(self):
        """The entry just ahead; None if there is none and the own entry is still there."""
        end = b64(self.prefix[:-1] + "0")
        ahead = {"key": b64(self.prefix), "range_end": end, "limit": "1", "sort_order": "DESCEND",
                 "sort_target": "CREATE", "max_create_revision": str(self.order - 1), "keys_only": True}
        own = {"key": b64(self.key), "target": "CREATE", "result": "EQUAL", "create_revision": str(self.order)}
        reply = self.etcd.call("kv/txn", {"compare": [own], "success": [{"requestRange": ahead}]})
        if not reply.get("succeeded"):
            raise RuntimeError("the entry is gone")
        keys = reply["responses"][0]["response_range"].get("kvs", [])
        key = base64.b64decode(keys[0]["key"]).decode() if keys else None
        return key, int(reply["header"]["revision"])

    def release(self):
        self.left.set()
        own = {"key": b64(self.key), "target": "CREATE", "result": "EQUAL", "create_revision": str(self.order)}
        delete = {"requestDeleteRange": {"key": b64(self.key)}}
        self.etcd.call("kv/txn", {"compare": [own], "success": [delete]})
        self.etcd.call("lease/revoke", {"ID": self.lease})


class Participant:
    def __init__(self, endpoint, name, recipe, id, rounds, hold_ms, ttl_ms="10000"):
        self.etcd, self.name, self.id, self.n = Gateway(endpoint), name, id, 0
        self.rounds, self.hold_ms, self.ttl_s = int(rounds), int(hold_ms), math.ceil(int(ttl_ms) / 1000)
        self.lines, self.ended = queue.Queue(), False

    def say(self, ev, **fields):
        event = {"t": str(time.monotonic_ns()), "id": self.id, "ev": ev, "n": self.n, **fields}
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()

    def read_lines(self):
        for line in sys.stdin:
            self.lines.put(line)
        self.ended = True
        self.lines.put(None)

    def run(self):
        threading.Thread(target=self.read_lines, daemon=True).start()
        self.say("ready")
        if self.lines.get() is None:
            return
        while not self.ended and self.n != (self.rounds or -1):
            self.n += 1
            self.round()
        self.n = 0
        self.say("done")

    def round(self):
        self.say("requesting")
        try:
            entry = Entry(self.etcd, self.name, self.ttl_s)
            entry.acquire()
        except (RuntimeError, OSError) as error:
            self.say("failed", message=repr(error))
            return
        self.say("acquired", order=str(entry.order), token=str(entry.order), key=entry.key)
        self.hold(entry)
        if entry.is_lost:
            entry.left.set()
            self.say("lost")
            return
        self.say("releasing")
        entry.release()
        self.say("released")

    def hold(self, entry):
        until = math.inf if self.hold_ms < 0 else time.monotonic() + self.hold_ms / 1000
        while not entry.is_lost and time.monotonic() < until:
            try:
                line = self.lines.get(timeout=min(0.05, max(0, until - time.monotonic())))
            except queue.Empty:
                continue
            if line is None or until == math.inf:
                return


Participant(*sys.argv[1:]).run()
