import type { MemoryCall } from '@queuelock/memory';
import { expect } from 'chai';
import type { Session } from '../../src/backend.ts';
import { QueueLockError, type QueueEntry } from '../../src/index.ts';
import {
  Gate,
  follow,
  join,
  losingReplies,
  ownershipOf,
  rejection,
  type CoreFact,
  type Stage,
  type StageClientOptions,
} from '../stage.ts';

/** Returns the entries of the queue `x` as another client observes them. */
async function seen(stage: Stage, name = 'x'): Promise<readonly QueueEntry[]> {
  const queue = follow(stage.client().watch(name));
  await stage.settle();
  queue.subscription.unsubscribe();
  return queue.last.entries;
}

/** Returns options of a client whose sessions use the methods in `change` in place of their own. */
function withSession(change: Partial<Session>): StageClientOptions {
  return {
    spoil: (backend) => ({
      ...backend,
      open: async (ttlMs, signal) => Object.assign(await backend.open(ttlMs, signal), change),
    }),
  };
}

export const labelFacts: readonly CoreFact[] = [
  {
    title:
      'the client notifies the backend when the caller reads the key of an entry, but not when the caller serialises the hold',
    async check(stage) {
      const read: string[] = [];
      const exposeKey = (_queue: string, id: string): boolean => read.push(id) > 0;
      const client = stage.client(withSession({ exposeKey }));
      const own = await client.acquire('x');
      const waiting = await join(stage, client);
      JSON.stringify(own);
      expect(read).to.deep.equal([]);
      expect(own.key).to.match(/^x\//);
      if (waiting.last.status === 'queued') expect(waiting.last.key).to.match(/^x\//);
      expect(read).to.deep.equal([own.id, waiting.last.status === 'queued' ? waiting.last.id : 'queued']);
      await stage.passing(own.release());
      waiting.subscription.unsubscribe();
    },
  },
  {
    title: 'reading the key of a hold throws OWNERSHIP_LOST when the next holder already holds',
    async check(stage) {
      const own = await stage.client(withSession({ exposeKey: () => false })).acquire('x');
      expect(() => own.key)
        .to.throw(/read it while the lock is held/)
        .with.property('code', 'OWNERSHIP_LOST');
      expect(JSON.parse(JSON.stringify(own)))
        .to.include({ name: 'x' })
        .and.not.have.property('key');
      await stage.passing(own.release());
    },
  },
  {
    title: 'several changes of a label are applied in order, even if replies are lost',
    async check(stage) {
      const client = stage.client({ link: { intercept: losingReplies(['update', 'share'], 2) } });
      const own = await client.acquire('x', { metadata: { n: '0' } });
      const writes = [
        own.update({ metadata: { n: '1' } }),
        own.downgrade(),
        own.update({ metadata: { n: '2' } }),
      ];
      await stage.passing(Promise.all(writes));
      const [entry] = await seen(stage);
      expect(entry).to.deep.include({ shared: true, metadata: { n: '2' } });
      expect(entry?.id).to.equal(own.id);
      await stage.passing(own.release());
    },
  },
  {
    title: 'a downgrade whose reply is lost admits the readers once, and the writer is a reader afterwards',
    async check(stage) {
      const own = await stage.client({ link: { intercept: losingReplies(['share'], 3) } }).acquire('x');
      const readers = [0, 1].map(() => join(stage, stage.client(), { mode: 'shared' }));
      const claims = await Promise.all(readers);
      const before = stage.server.wakeUps;
      await stage.passing(own.downgrade());
      expect([own.shared, own.held, stage.server.wakeUps - before]).to.deep.equal([true, true, 2]);
      await own.downgrade();
      for (const { last, subscription } of claims) {
        expect(last.status).to.equal('held');
        subscription.unsubscribe();
      }
      await stage.passing(own.release());
    },
  },
  ...(
    [
      [
        'the store does not support it',
        { share: undefined } as unknown as Partial<Session>,
        'INVALID_ARGUMENT',
      ],
      [
        'the server refuses it',
        { share: () => Promise.reject(new QueueLockError('ACCESS_DENIED', 'not you')) },
        'ACCESS_DENIED',
      ],
    ] as const
  ).map(([who, change, code]): CoreFact => ({
    title: `a downgrade rejects when ${who}, and the hold stays exclusive`,
    async check(stage) {
      const own = await stage.client(withSession(change)).acquire('x');
      expect(await rejection(stage.passing(own.downgrade()))).to.include({ code });
      await stage.passing(own.update({ metadata: { still: 'writing' } }));
      const [entry] = await seen(stage);
      expect([own.shared, own.held, entry?.shared]).to.deep.equal([false, true, false]);
      await stage.passing(own.release());
    },
  })),
  ...(['update', 'share'] as const).flatMap((call) =>
    (['the session ends', 'the entry is removed', 'the lock is released', 'the client closes'] as const).map(
      (how): CoreFact => ({
        title: `an update or a downgrade rejects with OWNERSHIP_LOST when ${how} while its request ${call} is in flight`,
        async check(stage) {
          const gate = new Gate(call);
          const client = stage.client({ link: { intercept: gate.requests } });
          const own = await client.acquire('x');
          const change = call === 'share' ? own.downgrade() : own.update({ value: 'new' });
          const failed = rejection(change);
          await stage.settle();
          expect(gate.held).to.equal(1);
          const [entry] = stage.server.queues().get('x')!;
          if (how === 'the session ends') stage.server.expireSession(entry!.sessionId);
          else if (how === 'the entry is removed') stage.server.evict(entry!.key);
          else if (how === 'the lock is released') void own.release();
          else void client.close();
          await stage.settle();
          gate.open();
          expect(await stage.passing(failed)).to.include({ code: 'OWNERSHIP_LOST' });
          expect([own.held, own.shared]).to.deep.equal([false, false]);
        },
      }),
    ),
  ),
  {
    title: 'the entries of all clients of a process contain the same text that identifies the process',
    async check(stage) {
      const one = await stage.client().acquire('x');
      const waiting = await join(stage, stage.client());
      const instances = (await seen(stage)).map(({ instance }) => instance);
      expect(instances).to.have.length(2);
      expect(instances[0]).to.match(/^[0-9a-f]{12}$/);
      expect(instances[1]).to.equal(instances[0]);
      waiting.subscription.unsubscribe();
      await stage.passing(one.release());
    },
  },
  {
    title: 'an entry keeps a value that the caller has set when the holder declines a request or downgrades',
    async check(stage) {
      const own = await stage.client().acquire('x', { value: 'as it is' });
      const [request] = await requestsTo(stage, own);
      await stage.passing(request!.decline('no'));
      await stage.passing(own.downgrade());
      expect((await seen(stage))[0]).to.deep.include({ value: 'as it is', owner: 'as it is', shared: true });
      await stage.passing(own.update({ value: 'another' }));
      expect((await seen(stage))[0]).to.include({ value: 'another' });
      await stage.passing(own.release());
    },
  },
  {
    title: 'every wait inside a call chain publishes each hold of the chain once',
    async check(stage) {
      const [one, two] = [stage.client(), stage.client()];
      const holder = await stage.client().acquire('z');
      const ids: string[] = [];
      await one.run('x', async (x) => {
        await two.multi(['y']).run(async (several) => {
          ids.push(several.of('y').id, x.id);
          const inside = await join(stage, two, { name: 'z' });
          const explicit = await join(stage, two, { name: 'z', holding: [x, x] });
          const [, chain, reported] = await seen(stage, 'z');
          expect(chain?.holds).to.deep.equal(ids);
          expect(reported?.holds).to.deep.equal([x.id]);
          for (const { subscription } of [inside, explicit]) subscription.unsubscribe();
        });
        await stage.settle();
        const after = await join(stage, two, { name: 'z' });
        expect((await seen(stage, 'z'))[1]?.holds).to.deep.equal([x.id]);
        after.subscription.unsubscribe();
      });
      await stage.passing(holder.release());
    },
  },
  {
    title:
      'a lost hold is no longer listed in the labels of later waits, although the work under it continues',
    async check(stage) {
      const client = stage.client();
      const holder = await stage.client().acquire('z');
      const outcome = await rejection(
        client.run('x', async ({ key }) => {
          stage.server.evict(key);
          await stage.settle();
          const inside = await join(stage, client, { name: 'z' });
          expect((await seen(stage, 'z'))[1]?.holds).to.deep.equal([]);
          inside.subscription.unsubscribe();
        }),
      );
      expect(outcome).to.include({ code: 'OWNERSHIP_LOST' });
      await stage.passing(holder.release());
    },
  },
  {
    title:
      'from a label that is too large, the client first omits responses to handover requests, then held entries, but never the owner',
    async check(stage) {
      const client = stage.client({ owner: 'o'.repeat(900) });
      const holds = await stage.passing(
        Promise.all(Array.from({ length: 60 }, (_, at) => client.acquire(`held ${at}`))),
      );
      const claim = await join(stage, client, { holding: holds });
      const [entry] = await seen(stage);
      expect(entry?.holds.length).to.be.within(10, 59);
      expect(entry?.holds.at(-1)).to.equal(holds.at(-1)?.id);
      expect(entry?.owner).to.have.length(900);
      expect(Buffer.byteLength(entry!.value)).to.be.at.most(2_048);
      claim.subscription.unsubscribe();
    },
  },
  ...(['enqueue', 'renew', 'update'] as const).map((call: MemoryCall): CoreFact => ({
    title: `the typical hold duration is in the label of the client's next entry, also when a reply to ${call} is lost`,
    async check(stage) {
      const client = stage.client({ link: { intercept: losingReplies([call]) } });
      for (const heldMs of [100, 300, 200]) {
        const own = await stage.passing(client.acquire('x'));
        await stage.clock.advance(heldMs);
        await stage.passing(own.release());
      }
      const claim = await join(stage, client);
      expect((await seen(stage))[0]?.typicalHoldMs).to.be.within(200, 225);
      await stage.passing(ownershipOf(claim).release());
    },
  })),
];

/** Sends a handover request from another client to the holder. */
async function requestsTo(
  stage: Stage,
  own: ReturnType<typeof ownershipOf>,
): Promise<readonly { decline(reason: string): Promise<void> }[]> {
  const requests: { decline(reason: string): Promise<void> }[] = [];
  const listening = own.requests$.subscribe((request) => requests.push(request));
  const requesting = await join(stage, stage.client(), { request: { reason: 'please', withinMs: 1_000 } });
  listening.unsubscribe();
  requesting.subscription.unsubscribe();
  return requests;
}
