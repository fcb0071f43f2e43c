import { safely } from '@queuelock/conformance';
import { isQueueLockError, type EntrySpec, type Session } from '@queuelock/core/backend';
import type { Naming } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import type { ZkDriver } from '../src/driver/driver.ts';
import { parseChildren } from '../src/queue/entries.ts';
import { childrenInFront } from '../src/queue/foreign.ts';
import { schemeOf } from '../src/queue/naming.ts';
import { valueIn } from '../src/queue/node-text.ts';
import { Bench, admitted, ending, eventually, newQueue, newSpec } from './bench.ts';
import { asOperator } from './operator.ts';

const UUID = '01234567-89ab-cdef-0123-456789abcdef';
const HEX = '0123456789abcdef0123456789abcdef';
const NUMBER = '0000000004';
const ENTRIES = {
  mutex: `_c_${UUID}-lock-`,
  writer: `_c_${UUID}-__WRIT__`,
  reader: `_c_${UUID}-__READ__`,
  latch: `_c_${UUID}-latch-`,
  lease: `_c_${UUID}-lease-`,
  kazoo: `${HEX}__lock__`,
  kazooReader: `${HEX}__rlock__`,
  fast: '__fast__',
} as const;
type Kind = keyof typeof ENTRIES;

const FOREIGN: Readonly<Record<Naming, readonly Kind[]>> = {
  curator: ['writer', 'reader', 'latch', 'lease', 'kazoo', 'kazooReader', 'fast'],
  'curator-read-write': ['mutex', 'latch', 'lease', 'kazoo', 'kazooReader', 'fast'],
  'curator-latch': ['mutex', 'writer', 'reader', 'lease', 'kazoo', 'kazooReader', 'fast'],
  'curator-lease': [],
  kazoo: ['mutex', 'writer', 'reader', 'latch', 'lease', 'fast'],
  'curator+kazoo': ['writer', 'reader', 'latch', 'lease', 'kazooReader', 'fast'],
  fast: ['mutex', 'writer', 'reader', 'latch', 'lease', 'kazoo', 'kazooReader'],
};

describe('foreign children of a ZooKeeper queue', () => {
  for (const [naming, kinds] of Object.entries(FOREIGN) as [Naming, readonly Kind[]][]) {
    it(`are of these kinds with naming ${naming}: ${kinds.join(', ') || 'none, since all children count as entries'}`, () => {
      const scheme = schemeOf(naming);
      const found = (Object.keys(ENTRIES) as Kind[]).filter(
        (kind) => parseChildren([`${ENTRIES[kind]}${NUMBER}`], scheme).foreign,
      );
      expect(found).to.deep.equal(kinds);
    });
  }

  const inFront = (naming: Naming, ...children: readonly string[]): readonly string[] => {
    const scheme = schemeOf(naming);
    return childrenInFront(parseChildren(children, scheme), { scheme });
  };
  const strangers = ['!note', '0', '00', '-x', '%2Fb', 'note', 'Z', '_x', '0000000004x', '9', '1', '{'];

  it('are reported if Curator would sort them by name before the last entry', () => {
    const before = ['!note', '0', '00', '-x', '%2Fb', '0000000004x'];
    for (const [naming, mark] of [
      ['curator', 'lock-'],
      ['curator-read-write', '__WRIT__'],
      ['curator-read-write', '__READ__'],
      ['curator-latch', 'latch-'],
      ['curator+kazoo', '__lock__'],
    ] as const) {
      expect(inFront(naming, ...strangers, `x-${mark}0000000005`), naming).to.deep.equal(before);
      expect(inFront(naming, ...strangers), `without own entries, ${naming}`).to.deep.equal(
        before.slice(0, -1),
      );
    }
    expect(inFront('curator', ...strangers, `${ENTRIES.mutex}2000000000`)).to.deep.equal([...before, '1']);
  });

  it('are reported if their names contain "lock-" as entries do, but do not end in a number', () => {
    const [longer, cut] = [`${ENTRIES.mutex}0000000003-old`, 'padlock-'];
    expect(inFront('curator', longer, cut, `${ENTRIES.mutex}0000000004`)).to.deep.equal([longer, cut]);
    expect(inFront('curator', longer, `${ENTRIES.mutex}0000000003`)).to.deep.equal([]);
  });

  it('are ignored with the namings kazoo and curator-lease', () => {
    expect(inFront('kazoo', ...strangers, `${ENTRIES.kazoo}${NUMBER}`)).to.deep.equal([]);
    expect(inFront('curator-lease', ...strangers)).to.deep.equal([]);
  });
});

describe('a ZooKeeper queue with foreign children', () => {
  const bench = new Bench();
  let server: string;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('foreign entries of @queuelock/zookeeper')).endpoint;
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  function open(naming: Naming, ttlMs = 10_000): Promise<Session> {
    return bench.backend(server, { naming }).open(ttlMs, new AbortController().signal);
  }

  const entries = async (): Promise<readonly string[]> =>
    asOperator(server, async (zk) => (await zk.children(`/${queue}`)) ?? []);

  /**
   * Runs `work` while the queue has a child that an operator has created. The child's name is `name` and a
   * number that the server appends.
   */
  const beside = <T>(name: string, work: (zk: ZkDriver) => Promise<T>): Promise<T> =>
    asOperator(server, async (zk) => {
      await zk.create(`/${queue}`, '', 'persistent');
      await zk.create(`/${queue}/${name}`, '', 'ephemeral-sequential');
      return work(zk);
    });

  const refusal = async (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'it was let in',
      (error: unknown) => (isQueueLockError(error, 'FOREIGN_FORMAT') ? error.message : String(error)),
    );

  for (const [naming, kinds] of Object.entries(FOREIGN) as [Naming, readonly Kind[]][]) {
    for (const kind of kinds) {
      it(`refuses an entry of naming ${naming} beside an entry whose name contains ${ENTRIES[kind].slice(-9)}`, async () => {
        const session = await open(naming);
        await beside(ENTRIES[kind], async () => {
          const message = await refusal(session.enqueue(newSpec(queue)));
          expect(message).to.include(`/${queue} has the entry ${ENTRIES[kind]}0000000000`);
          expect(message).to.match(/; .*, or give the queue naming "[a-z-]+" in every client/);
          expect(await entries()).to.have.length(1);
        });
        expect((await session.enqueue(newSpec(queue))).turn.admitted).to.equal(true);
      });
    }
  }

  it('causes an error with remedies for Curator and for kazoo when they share the queue', async () => {
    const session = await open('curator');
    const message = await beside(ENTRIES.kazoo, () => refusal(session.enqueue(newSpec(queue))));
    for (const part of ['_NODE_NAME = "-lock-"', 'curator+kazoo', 'extra_lock_patterns=["-lock-"]']) {
      expect(message).to.include(part);
    }
  });

  it('refuses tries and multi-locks, and leaves none of their entries', async () => {
    const session = await open('curator');
    const other = newQueue();
    await beside(ENTRIES.kazoo, async (zk) => {
      expect(await refusal(session.tryEnqueue(newSpec(queue)))).to.include('__lock__');
      expect(await refusal(session.enqueueAll!([newSpec(other), newSpec(queue)]))).to.include('__lock__');
      await eventually(async () => (await zk.children(`/${other}`))?.length === 0);
      expect(await entries()).to.have.length(1);
    });
    expect(await session.enqueueAll!([newSpec(other), newSpec(queue)])).to.have.length(2);
  });

  it('ends the wait of a waiter at its next read', async () => {
    const [one, two] = [await open('curator'), await open('curator')];
    const middle = newSpec(queue);
    await one.enqueue(newSpec(queue));
    const left = ending(await one.enqueue(middle));
    const end = ending(await two.enqueue(newSpec(queue)));
    await beside(ENTRIES.writer, async () => {
      await one.remove(queue, middle.id);
      expect(await end).to.equal('FOREIGN_FORMAT');
    });
    expect(await left).to.equal('ENTRY_LOST');
  });

  it('ends observers with an error', async () => {
    const backend = bench.backend(server, { naming: 'kazoo' });
    const message = await beside(
      ENTRIES.mutex,
      () =>
        new Promise<string>((resolve) => {
          backend
            .observe(queue)
            .subscribe({ next: () => resolve('shown'), error: (error: unknown) => resolve(String(error)) });
        }),
    );
    expect(message).to.include('FOREIGN_FORMAT').and.include('naming "curator"');
  });

  it('refuses the second of two clients with different namings', async () => {
    const [first, second] = [await open('curator-read-write'), await open('curator')];
    expect((await first.enqueue(newSpec(queue))).turn.admitted).to.equal(true);
    expect(await refusal(second.enqueue(newSpec(queue)))).to.include(
      'give the queue naming "curator-read-write"',
    );
  });

  it('makes a waiter with naming curator+kazoo wait for an exclusive entry of kazoo', async () => {
    const session = await open('curator+kazoo');
    await asOperator(server, async (zk) => {
      await zk.create(`/${queue}`, '', 'persistent');
      const { path } = await zk.create(`/${queue}/${ENTRIES.kazoo}`, '', 'ephemeral-sequential');
      const waiting = await session.enqueue(newSpec(queue));
      safely(() => expect(waiting.turn).to.deep.equal({ admitted: false, ahead: 1 }));
      await zk.delete(path!);
      await admitted(waiting);
    });
  });

  describe('when a child is not an entry', () => {
    const strangerBeside = (name: string, naming: Naming): Promise<string> =>
      asOperator(server, async (zk) => {
        await zk.create(`/${queue}`, '', 'persistent');
        await zk.create(`/${queue}/${name}`, '', 'persistent');
        return refusal((await open(naming)).enqueue(newSpec(queue)));
      });

    for (const name of ['!note', '0', 'padlock-']) {
      it(`refuses an entry beside the child ${name}`, async () => {
        expect(await strangerBeside(name, 'curator')).to.include(`has the child ${JSON.stringify(name)}`);
        expect(await entries()).to.deep.equal([name]);
      });
    }

    for (const [name, naming] of [
      ['note', 'curator'],
      ['!note', 'kazoo'],
      ['1', 'curator'],
    ] as const) {
      it(`accepts an entry of naming ${naming} beside the child ${name}`, async () => {
        expect(await strangerBeside(name, naming)).to.equal('it was let in');
      });
    }

    it('accepts an entry beside nested queues, even while one is being created', async () => {
      const session = await open('curator');
      await session.enqueue(newSpec(`${queue}/0`));
      expect((await session.enqueue(newSpec(queue))).turn.admitted).to.equal(true);
      await asOperator(server, async (zk) => {
        await zk.create(`/${queue}/00`, '', 'container');
        const entering = session.enqueue(newSpec(queue));
        await zk.create(`/${queue}/00/${ENTRIES.mutex}`, '', 'ephemeral-sequential');
        const { turn } = await entering;
        safely(() => expect(turn.admitted).to.equal(false));
      });
    });
  });
});

describe('operations that a naming does not support', () => {
  const bench = new Bench();
  let server: string;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('refusals of @queuelock/zookeeper')).endpoint;
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  async function messageOf(
    naming: Naming,
    call: (session: Session, held: EntrySpec) => unknown,
  ): Promise<string> {
    const session = await bench.backend(server, { naming }).open(10_000, new AbortController().signal);
    const held = newSpec(queue, { value: 'candidate 1' });
    await session.enqueue(held);
    try {
      await call(session, held);
    } catch (error) {
      return isQueueLockError(error, 'INVALID_ARGUMENT') ? error.message : String(error);
    }
    return 'it was done';
  }

  for (const [naming, what, call, message] of [
    [
      'curator-latch',
      'readers',
      (s, h) => s.enqueue(newSpec(h.queue, { shared: true })),
      /mode .*no readers/,
    ],
    [
      'curator-latch',
      'new values',
      (s, h) => s.update(h.queue, h.id, 'x'),
      /value must not change .* one watch/,
    ],
    ['curator-latch', 'downgrades', (s, h) => s.share!(h.queue, h.id, 'x'), /value must not change/],
    [
      'curator-lease',
      'readers',
      (s, h) => s.enqueueAll!([newSpec(h.queue, { shared: true })]),
      /mode .*no readers/,
    ],
    ['fast', 'readers', (s, h) => s.enqueue(newSpec(h.queue, { shared: true })), /mode .*no readers/],
    ['fast', 'limits', (s, h) => s.enqueue(newSpec(h.queue, { limit: 2 })), /limit is 1 .*locks only/],
    ['fast', 'downgrades', (s, h) => s.share!(h.queue, h.id, 'x'), /downgrade .*no readers/],
    ['curator-lease', 'downgrades', (s, h) => s.share!(h.queue, h.id, 'x'), /downgrade .*no readers/],
    [
      'curator-lease',
      'several permits',
      (s, h) => s.enqueue(newSpec(h.queue, { limit: 3, permits: 2 })),
      /permits is 1 .*count nodes; got 2/,
    ],
  ] satisfies (readonly [Naming, string, (session: Session, held: EntrySpec) => unknown, RegExp])[]) {
    it(`are refused, and change nothing: ${what} with naming ${naming}`, async () => {
      expect(await messageOf(naming, call)).to.match(message);
      await asOperator(server, async (zk) => {
        const names = (await zk.children(`/${queue}`))!;
        expect(names).to.have.length(1);
        const node = (await zk.read(`/${queue}/${names[0]!}`))!;
        expect(node.version).to.equal(0);
        expect(valueIn(node.text, schemeOf(naming))).to.equal('candidate 1');
      });
    });
  }
});
