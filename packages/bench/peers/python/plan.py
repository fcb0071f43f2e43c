from kazoo.client import KazooClient

# Longer than any pause of a busy machine.
SESSION_SECONDS = 60
CONNECT_SECONDS = 20


class Mistake(Exception):
    """The command line or the environment asks for what there is not; the text says what to give."""


class Plan:
    """What to do and with which numbers, as the command line says it."""

    def __init__(self, args, endpoint):
        if endpoint is None:
            raise Mistake("ZK is not set: give the server as host:port")
        if not args:
            raise Mistake("usage: peer.py SCENARIO key=value …")
        self.endpoint, self.scenario = endpoint, args[0]
        for arg in args[1:]:
            if "=" not in arg:
                raise Mistake(f"{arg!r} is no key=value")
        self.values = dict(arg.split("=", 1) for arg in args[1:])

    def text(self, key, otherwise):
        return self.values.get(key, otherwise)

    def path(self):
        return "/" + self.text("name", self.scenario)

    def number(self, key, otherwise, least):
        value = self.values.get(key)
        if value is None:
            return otherwise
        if not value.isdecimal() or int(value) < least:
            raise Mistake(f"{key}={value}: give a whole number from {least}")
        return int(value)

    def connect(self):
        client = KazooClient(hosts=self.endpoint, timeout=SESSION_SECONDS)
        client.start(timeout=CONNECT_SECONDS)
        return client
