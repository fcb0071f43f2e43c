import { safely } from '@queuelock/conformance';
import { isQueueLockError, type Session } from '@queuelock/core/backend';
import type { Naming } from '@queuelock/zookeeper';
import { expect } from 'chai';
import {
  curatorLatch,
  curatorMutex,
  curatorReader,
  curatorWriter,
  kazooLock,
  kazooWriter,
  type Kind,
} from '../../../integration/interop/kinds.ts';
import {
  endParticipants,
  startParticipants,
  type Participant,
} from '../../../integration/interop/participant.ts';
import { orSkip } from '@queuelock/harness/services/skip';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, admitted, eventually, newQueue, newSpec } from './bench.ts';
import { asOperator } from './operator.ts';

describe('unchanged clients of Curator and kazoo', function () {
  this.timeout(60_000);
  const bench = new Bench();
  let server: string;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('peers of @queuelock/zookeeper')).endpoint;
    queue = newQueue();
  });
  afterEach(endParticipants);
  afterEach(() => bench.clear());

  /**
   * Starts a client of Curator or kazoo in its own process. The client enqueues at the test's first message,
   * and releases at its second message.
   */
  const start = async (kind: Kind): Promise<Participant> => {
    const task = { kind, id: kind.title, endpoint: server, url: '', name: queue, rounds: 1, holdMs: -1 };
    const [participant] = await startParticipants([task]);
    return participant!;
  };

  const untilQueued = (count: number): Promise<void> =>
    asOperator(server, (zk) =>
      eventually(async () => ((await zk.children(`/${queue}`))?.length ?? 0) === count),
    );

  const open = (naming: Naming): Promise<Session> =>
    bench.backend(server, { naming }).open(10_000, new AbortController().signal);

  for (const [kind, naming, message] of [
    [kazooLock, 'curator', /__lock__\d{10}, as of kazoo’s Lock.*_NODE_NAME = "-lock-"/],
    [kazooLock, 'curator-read-write', /kazoo’s Lock.*_NODE_NAME = "-__WRIT__"/],
    [curatorMutex, 'kazoo', /-lock-\d{10}, as of Curator’s InterProcessMutex.*"curator\+kazoo"/],
    [curatorLatch, 'curator', /-latch-\d{10}, as of Curator’s LeaderLatch.*naming "curator-latch"/],
    [curatorMutex, 'curator-latch', /-lock-\d{10}, as of Curator’s InterProcessMutex.*naming "curator"/],
    [curatorWriter, 'curator', /-__WRIT__\d{10}, as of the writers.*naming "curator-read-write"/],
  ] as const) {
    it(`cause FOREIGN_FORMAT for an enqueue with naming ${naming} while ${kind.title} holds`, async function () {
      const peer = await orSkip(this, start(kind));
      peer.tell();
      await peer.untilEvent('acquired');
      const session = await open(naming);
      const refused = await session.enqueue(newSpec(queue)).catch((error: unknown) => error);
      expect(isQueueLockError(refused, 'FOREIGN_FORMAT')).to.equal(true);
      expect(String(refused)).to.match(message);
      peer.tell();
      await peer.untilEvent('released');
      // Some clients of Curator and kazoo report their release before the server has removed the entry.
      await untilQueued(0);
      expect((await session.enqueue(newSpec(queue))).turn.admitted).to.equal(true);
    });
  }

  for (const [kind, naming, shared] of [
    [curatorMutex, 'curator', false],
    [curatorMutex, 'curator', true],
    [curatorWriter, 'curator-read-write', false],
    [curatorWriter, 'curator-read-write', true],
    [curatorReader, 'curator-read-write', false],
    [curatorLatch, 'curator-latch', false],
    [kazooLock, 'kazoo', false],
    [kazooWriter, 'kazoo', true],
  ] as const) {
    const who = `${shared ? 'a reader' : 'an entry'} of ${naming}`;
    it(`wait in the order of the queue: ${kind.title} behind ${who}, and ${who} behind that client`, async function () {
      const peer = await orSkip(this, start(kind));
      const session = await open(naming);
      const [first, second] = [newSpec(queue, { shared }), newSpec(queue, { shared })];
      expect((await session.enqueue(first)).turn.admitted).to.equal(true);
      peer.tell();
      await untilQueued(2);
      const next = await session.enqueue(second);
      safely(() => expect(next.turn.admitted).to.equal(false));
      safely(() => expect(peer.events.map(({ ev }) => ev)).to.not.include('acquired'));
      await session.remove(queue, first.id);
      await peer.untilEvent('acquired');
      const turn = admitted(next).then(() => process.hrtime.bigint());
      peer.tell();
      const [releasing, admittedAt] = [await peer.untilEvent('releasing'), await turn];
      safely(() => expect(BigInt(releasing.t) < admittedAt).to.equal(true));
    });
  }

  it('are admitted as readers, but not as writers, beside a writer converted to a reader', async function () {
    const [reader, writer] = [await orSkip(this, start(curatorReader)), await start(curatorWriter)];
    const session = await open('curator-read-write');
    const own = newSpec(queue);
    await session.enqueue(own);
    reader.tell();
    await untilQueued(2);
    expect(await session.share!(queue, own.id, 'reads')).to.equal(true);
    await reader.untilEvent('acquired');
    writer.tell();
    await untilQueued(3);
    reader.tell();
    await reader.untilEvent('released');
    safely(() => expect(writer.events.map(({ ev }) => ev)).to.not.include('acquired'));
    await session.remove(queue, own.id);
    await writer.untilEvent('acquired');
    writer.tell();
  });
});
