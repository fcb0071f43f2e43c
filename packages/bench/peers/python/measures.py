import json
import math
import sys


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def told(reached):
    """Says where it stands and waits for a line, or for the end of the input: somebody may read the server's counters."""
    say({reached: True})
    sys.stdin.readline()


def untold(_reached):
    pass


def micros(nanos):
    """Microseconds, to a tenth."""
    return round(nanos / 1_000, 1)


def millis(nanos):
    return round(nanos / 1_000_000, 1)


def quantile(share, times):
    """The smallest of them that at least this share does not exceed, in microseconds; 0 of none."""
    if not times:
        return 0
    return micros(sorted(times)[max(0, math.ceil(share * len(times)) - 1)])
