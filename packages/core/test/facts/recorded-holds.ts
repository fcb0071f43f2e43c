import type { MemoryCall } from '@queuelock/memory';
import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import type { Backend } from '../../src/backend.ts';
import { QueueLockError, type LockClient, type RecordedHold } from '../../src/index.ts';
import {
  Gate,
  join,
  losingReplies,
  ownershipOf,
  thrownBy,
  type CoreFact,
  type Stage,
  type StageClientOptions,
} from '../stage.ts';

const LAST = 10;

function recording(stage: Stage, options: StageClientOptions = {}): LockClient {
  return stage.client({ recordHolds: LAST, ...options });
}

/**
 * Waits until all recorded holds are written to the store. Returns the recorded holds that a new client
 * reads.
 */
async function holdsOf(stage: Stage, name = 'x'): Promise<readonly RecordedHold[]> {
  await stage.clock.advance(100);
  const live$ = stage
    .client()
    .recordedHolds(name)
    .pipe(filter(({ status }) => status === 'live'));
  return (await stage.passing(firstValueFrom(live$))).holds;
}

/** Describes each hold by its owner, and by its status or, after its end, the reason and the duration. */
function inWords(holds: readonly RecordedHold[]): readonly string[] {
  return holds.map((hold) => {
    if (hold.status !== 'ended') return `${hold.owner} ${hold.status}`;
    return `${hold.owner} ${hold.reason} after ${String(hold.heldMs)}`;
  });
}

/** Replaces the stored text of the recorded holds, as a program that does not use queuelock could. */
async function overwrite(stage: Stage, text: string | undefined): Promise<void> {
  await stage.passing(
    stage
      .client()
      .register('x', 'holds')
      .change(() => text),
  );
}

const refused = (backend: Backend): Backend => ({
  ...backend,
  registers: Object.assign(Object.create(backend.registers!), {
    write: () => Promise.reject(new QueueLockError('ACCESS_DENIED', 'may not write')),
  }) as NonNullable<Backend['registers']>,
});

export const recordedHoldFacts: readonly CoreFact[] = [
  {
    title:
      'a record of a hold names its process, owner, fencing token, begin, duration and end reason, and outlives all clients',
    async check(stage) {
      const client = recording(stage, { owner: 'importer' });
      const hold = await client.acquire('x');
      await stage.clock.advance(3_000);
      expect(await holdsOf(stage)).to.have.nested.property('0.status', 'held');
      await stage.passing(hold.release());
      await stage.passing(client.close());
      const [record] = await holdsOf(stage);
      expect(record).to.include({
        owner: 'importer',
        pid: process.pid,
        token: hold.token,
        order: hold.order,
      });
      expect(record).to.include({
        id: hold.id.slice(0, 16),
        status: 'ended',
        reason: 'released',
        heldMs: 3_100,
      });
      expect(record?.host).to.be.a('string').and.not.equal('');
      expect(record?.beganAt).to.be.a('number');
      expect(JSON.parse(JSON.stringify(record))).to.include({ token: String(hold.token) });
      await stage.passing(stage.client().forgetHolds('x'));
      expect(await holdsOf(stage)).to.deep.equal([]);
      expect(stage.server.registerCount).to.equal(0);
    },
  },
  {
    title:
      'the hold of a process that died has no recorded end, and the next holder records the time by which that hold had ended',
    async check(stage) {
      const dead = recording(stage, { owner: 'dead' });
      const claim = await join(stage, dead);
      await stage.clock.advance(100);
      const [id = ''] = stage.server.sessionIds;
      const silent = recording(stage, { owner: 'next' });
      stage.server.expireSession(id);
      // Removes the recorded end of the hold, because a process that died would not have recorded it.
      await stage.clock.advance(100);
      expect(claim.last.status).to.equal('ended');
      const text = (await stage.passing(stage.client().register('x', 'holds').read())) ?? '';
      await overwrite(stage, text.replace(/,"ms":\d+,"end":"[a-z-]+"/, ''));
      expect(inWords(await holdsOf(stage))).to.deep.equal(['dead unrecorded']);
      const next = await silent.acquire('x');
      const [first, second] = await holdsOf(stage);
      expect(first).to.include({ owner: 'dead', status: 'unrecorded', endedAtLatest: second?.beganAt });
      expect(second).to.include({ owner: 'next', status: 'held' });
      await stage.passing(next.release());
      expect((await holdsOf(stage)).map(({ status }) => status)).to.deep.equal(['unrecorded', 'ended']);
    },
  },
  {
    title: 'a record of a lost hold has the reason of the loss, and the client that removed the entry',
    async check(stage) {
      const evicted = await join(stage, recording(stage, { owner: 'evicted' }));
      const { key, order } = ownershipOf(evicted);
      await stage
        .client({ owner: 'operator' })
        .evict('x', { key, order, owner: 'evicted' }, { reason: 'a test' });
      const closed = recording(stage, { owner: 'closed' });
      await join(stage, closed);
      await stage.passing(closed.close());
      const lost = await join(stage, recording(stage, { owner: 'lost' }));
      expect(ownershipOf(lost).held).to.equal(true);
      for (const id of stage.server.sessionIds) stage.server.expireSession(id);
      const holds = await holdsOf(stage);
      expect(inWords(holds).map((words) => words.replace(/ after \d+/, ''))).to.deep.equal([
        'evicted entry-removed',
        'closed client-closed',
        'lost session-lost',
      ]);
      expect(holds[0]).to.have.deep.property('eviction', { by: 'operator', reason: 'a test' });
    },
  },
  {
    title:
      'a hold that ended because no heartbeat was confirmed is recorded as soon as the store can be reached again',
    async check(stage) {
      let isAway = false;
      const intercept = <T>(_call: MemoryCall, proceed: () => Promise<T>): Promise<T> =>
        isAway ? Promise.reject(new QueueLockError('UNAVAILABLE', 'away')) : proceed();
      const claim = await join(stage, recording(stage, { owner: 'cut off', link: { intercept } }));
      await stage.clock.advance(100);
      isAway = true;
      await stage.until('the loss', () => claim.last.status === 'ended');
      await stage.clock.advance(1_000);
      expect(inWords(await holdsOf(stage))).to.deep.equal(['cut off unrecorded']);
      isAway = false;
      await stage.clock.advance(2_000);
      expect(inWords(await holdsOf(stage))[0]).to.match(/^cut off heartbeat-timeout after \d+$/);
    },
  },
  ...(['readRegister', 'writeRegister'] as const).map((call): CoreFact => ({
    title: `grants and releases do not wait for records while ${call} gets no reply`,
    async check(stage) {
      const gate = new Gate(call);
      const client = recording(stage, { owner: 'a', link: { intercept: gate.requests } });
      for (let round = 0; round < 3; round += 1) {
        const hold = await client.acquire('x');
        await stage.clock.advance(50);
        await hold.release();
      }
      expect(stage.server.entryCount).to.equal(0);
      expect(gate.held).to.equal(1);
      gate.open();
      expect(inWords(await holdsOf(stage))).to.deep.equal(Array(3).fill('a released after 50'));
    },
  })),
  {
    title: 'writing a record wakes no waiter and emits nothing to an observer of the queue',
    async check(stage) {
      const holder = recording(stage);
      const hold = await holder.acquire('x');
      const waiter = await join(stage, recording(stage, { owner: 'waiter' }));
      const seen: number[] = [];
      const watch = stage
        .client()
        .watch('x')
        .subscribe(({ entries }) => seen.push(entries.length));
      await stage.settle();
      const { wakeUps } = stage.server;
      const before = seen.length;
      await stage.clock.advance(1_000);
      expect(inWords(await holdsOf(stage))).to.have.length(1);
      expect([stage.server.wakeUps, seen.length]).to.deep.equal([wakeUps, before]);
      await stage.passing(hold.release());
      await stage.settle();
      expect(stage.server.wakeUps).to.equal(wakeUps + 1);
      await stage.clock.advance(1_000);
      expect(waiter.last.status).to.equal('held');
      waiter.subscription.unsubscribe();
      watch.unsubscribe();
    },
  },
  {
    title: 'a hold is recorded once when replies to the reads and writes of the record are lost',
    async check(stage) {
      const intercept = losingReplies(['readRegister', 'writeRegister'], 3);
      const client = recording(stage, { owner: 'a', link: { intercept } });
      const hold = await client.acquire('x');
      await stage.clock.advance(5_000);
      await hold.release();
      expect(inWords(await holdsOf(stage))).to.deep.equal(['a released after 5000']);
    },
  },
  {
    title: 'two short holds of one client need one read and one write of the records',
    async check(stage) {
      const calls: MemoryCall[] = [];
      const client = recording(stage, {
        link: {
          intercept: (call, proceed) => {
            if (call.endsWith('Register')) calls.push(call);
            return proceed();
          },
        },
      });
      await client.run('x', () => undefined);
      await client.run('x', () => undefined);
      expect(await holdsOf(stage)).to.have.length(2);
      expect(calls).to.deep.equal(['readRegister', 'writeRegister']);
      const silent = stage.client();
      await silent.run('y', () => undefined);
      expect(await holdsOf(stage, 'y')).to.deep.equal([]);
    },
  },
  {
    title: 'no record is lost when eight readers record their holds at the same time',
    async check(stage) {
      const clients = Array.from({ length: 8 }, (_, at) =>
        recording(stage, { owner: `reader ${String(at)}`, link: { latencyMs: at } }),
      );
      const holds = await stage.passing(
        Promise.all(clients.map((client) => client.acquire('x', { mode: 'shared' }))),
      );
      expect((await holdsOf(stage)).map(({ status }) => status)).to.deep.equal(Array(8).fill('held'));
      await stage.passing(Promise.all(holds.map((hold) => hold.release())));
      await stage.clock.advance(5_000);
      const ended = await holdsOf(stage);
      expect(ended.map(({ status }) => status)).to.deep.equal(Array(8).fill('ended'));
      expect(new Set(ended.map(({ owner }) => owner)).size).to.equal(8);
    },
  },
  {
    title: 'only the latest holds are kept, as many as the option recordHolds allows',
    async check(stage) {
      const client = recording(stage, { recordHolds: 3 });
      for (let round = 0; round < 5; round += 1) {
        await client.run('x', () => undefined, { owner: `round ${String(round)}` });
        await stage.clock.advance(round < 3 ? 100 : 0);
      }
      expect((await holdsOf(stage)).map(({ owner }) => owner)).to.deep.equal([
        'round 2',
        'round 3',
        'round 4',
      ]);
    },
  },
  {
    title: 'a record that the store refuses is reported once a minute, and the hold continues',
    async check(stage) {
      const client = recording(stage, { spoil: refused });
      const reports: string[] = [];
      client.errors$.subscribe((error) => reports.push(error.message));
      for (let round = 0; round < 3; round += 1) {
        await stage.passing(client.run('x', () => undefined));
        await stage.clock.advance(1_000);
      }
      expect(reports).to.deep.equal(['[ACCESS_DENIED] a hold of "x" was not recorded: may not write']);
      await stage.clock.advance(60_000);
      await stage.passing(client.run('x', () => undefined));
      await stage.clock.advance(100);
      expect(reports).to.have.length(2);
    },
  },
  {
    title: 'a client closes within 1 s while its requests for records get no reply',
    async check(stage) {
      const lost = (call: MemoryCall): boolean => call.endsWith('Register');
      const client = recording(stage, {
        link: {
          intercept: (call, proceed) => (lost(call) ? Promise.reject(new Error('no reply')) : proceed()),
        },
      });
      await client.acquire('x');
      await stage.clock.advance(100);
      const begunAt = stage.clock.now();
      await stage.passing(client.close());
      expect(stage.clock.now() - begunAt).to.be.within(900, 2_100);
      expect(stage.server.entryCount).to.equal(0);
    },
  },
  {
    title: 'a hold that another process resumed has one record, with the end of the hold in that process',
    async check(stage) {
      const before = recording(stage, { owner: 'before' });
      const { id } = await before.acquire('x');
      const resume = await before.exportSession();
      await stage.passing(before.abandon());
      expect(inWords(await holdsOf(stage))[0]).to.match(/^before client-closed/);
      const again = await stage.passing(recording(stage, { owner: 'after', resume }).acquire('x', { id }));
      expect(inWords(await holdsOf(stage))).to.deep.equal(['after held']);
      await stage.passing(again.release());
      expect(inWords(await holdsOf(stage))).to.deep.equal(['after released after 100']);
    },
  },
  {
    title: 'recorded holds omit invalid text of other programs, and escape control characters',
    async check(stage) {
      const record = {
        id: '0123456789abcdef',
        token: '7',
        owner: 'a\u001b[2J\u202e',
        began: 5,
        ms: 1,
        end: 'released',
      };
      const parts = [
        record,
        7,
        null,
        { ...record, id: 'x' },
        { ...record, token: 7 },
        { ...record, began: 1e300 },
      ];
      await overwrite(stage, JSON.stringify(parts));
      const holds = await holdsOf(stage);
      expect(holds).to.have.length(1);
      expect(holds[0]).to.include({ owner: 'a\\u001b[2J\\u202e', token: 7n, order: 7n, reason: 'released' });
      for (const text of ['', 'null', '{}', '[', 'x'.repeat(4_096)]) {
        await overwrite(stage, text);
        expect(await holdsOf(stage), text).to.deep.equal([]);
      }
      await stage.passing(recording(stage).run('x', () => undefined));
      expect(await holdsOf(stage)).to.have.length(1);
    },
  },
  {
    title: 'recordHolds is refused unless it is a whole number from 0 to 100',
    async check(stage) {
      for (const recordHolds of [-1, 0.5, 101, Number.NaN])
        expect(String(thrownBy(() => stage.client({ recordHolds }))))
          .to.include('recordHolds')
          .and.include('a whole number from 0 to 100');
      const without = (backend: Backend): Backend => Object.assign(backend, { registers: undefined });
      expect(String(thrownBy(() => stage.client({ recordHolds: 1, spoil: without })))).to.include(
        'registers',
      );
      expect(String(thrownBy(() => stage.client({ spoil: without }).recordedHolds('x')))).to.include(
        'memory',
      );
    },
  },
];
