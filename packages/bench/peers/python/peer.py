"""The client programs in Python, for ZooKeeper: peer.py SCENARIO key=value …, with ZK=host:port in the environment. See ../../src/peers.ts."""
import logging
import os
import sys
import threading

from contention import fresh
from cycles import floor, free
from lines import chain, drain
from measures import say
from plan import Mistake, Plan

# What goes wrong is told by the call that it happens to.
logging.getLogger("kazoo").setLevel(logging.CRITICAL)
# Thousands of threads wait at a time.
threading.stack_size(256 * 1024)

SCENARIOS = {"free": free, "drain": drain, "fresh": fresh, "floor": floor, "chain": chain}


def main():
    plan = Plan(sys.argv[1:], os.environ.get("ZK"))
    if plan.scenario not in SCENARIOS:
        raise Mistake(f"{plan.scenario!r} is none of {', '.join(SCENARIOS)}")
    say(SCENARIOS[plan.scenario](plan))


try:
    main()
except Mistake as mistake:
    sys.exit(str(mistake))
