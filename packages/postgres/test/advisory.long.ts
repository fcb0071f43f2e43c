import { expect } from 'chai';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import type { AdvisoryKey } from '@queuelock/postgres';
import { startPgBouncer } from '@queuelock/harness/services/pgbouncer-process';
import { postgresUrl } from '@queuelock/harness/services/postgres-process';
import { scriptOf } from '@queuelock/harness/services/script';
import { ScriptProcess, endScripts } from '@queuelock/harness/services/script-process';
import { admitted, lost, refusal, signal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

const HOLDER = scriptOf(fileURLToPath(new URL('./holder.ts', import.meta.url)));
const KEY = 4711;
const TTL_MS = 2_000;
const WITHIN_MS = 60_000;
const LOCKS = "select count(*)::int from pg_locks where locktype = 'advisory'";

describe('a queue of PostgreSQL with an advisory lock', () => {
  const clients = new Clients();
  const advisoryKey = (queue: string): AdvisoryKey | undefined => (queue === 'jobs' ? KEY : undefined);
  const locks: LockClient[] = [];
  const others: Client[] = [];

  function client(ttlMs = 30_000): LockClient {
    const made = createLockClient(clients.connect({ advisoryKey }), { ttlMs });
    locks.push(made);
    return made;
  }

  /** Connects a client of plain npm pg, which takes advisory locks without queuelock. */
  async function other(): Promise<Client> {
    const made = new Client({ connectionString: clients.url });
    made.on('error', () => undefined);
    await made.connect();
    others.push(made);
    return made;
  }

  /** Resolves with whether a client without queuelock gets the advisory lock at once. */
  async function isFree(mode = '', key = String(KEY)): Promise<unknown> {
    const [got] = await clients.column(`select pg_try_advisory_lock${mode}(${key})`);
    await clients.column('select pg_advisory_unlock_all()');
    return got;
  }

  async function untilLocks({
    held,
    waiting,
  }: {
    readonly held: number;
    readonly waiting: number;
  }): Promise<void> {
    await clients.until(`${LOCKS} and granted`, held);
    await clients.until(`${LOCKS} and not granted`, waiting);
  }

  /** Starts another process that holds the lock of the queue and its advisory lock. */
  async function holder(): Promise<ScriptProcess> {
    const made = new ScriptProcess(HOLDER, [clients.url, 'jobs', String(TTL_MS), String(KEY)]);
    await made.untilEvent('held');
    return made;
  }

  afterEach(async () => {
    await endScripts();
    await Promise.all(locks.splice(0).map((made) => made.close()));
    await Promise.all(others.splice(0).map((made) => made.end()));
    await clients.until(LOCKS, 0);
  });

  it('gives a holder the advisory lock too, which is free again when `release` resolves', async () => {
    const ownership = await client().acquire('jobs');
    expect(await isFree()).to.equal(false);
    await ownership.release();
    expect(await isFree()).to.equal(true);
  });

  it('makes waiters wait while another program has the lock, and grants them in order after the unlock', async () => {
    const old = await other();
    await old.query(`select pg_advisory_lock(${KEY})`);
    const [one, two] = [client(), client()];
    expect(await one.tryAcquire('jobs')).to.equal(undefined);
    const first = one.acquire('jobs');
    await untilLocks({ held: 1, waiting: 1 });
    const second = two.acquire('jobs');
    await clients.until('select count(*)::int from queuelock.entry', 2);
    await old.query('select pg_advisory_unlock_all()');
    const ownership = await first;
    expect(await isFree()).to.equal(false);
    await ownership.release();
    const next = await second;
    expect(next.token > ownership.token).to.equal(true);
    await next.release();
  }).timeout(WITHIN_MS);

  it('causes no requests while a client waits for the advisory lock', async () => {
    const old = await other();
    await old.query(`select pg_advisory_lock(${KEY})`);
    const { pool, requested } = clients.pool();
    const session = await clients.session(clients.connect({ pool, advisoryKey }));
    const specs = [newSpec(), newSpec(), newSpec()];
    const [first] = await Promise.all(specs.map((each) => session.enqueue(each)));
    const turn = admitted(first!);
    await untilLocks({ held: 1, waiting: 1 });
    const before = requested.length;
    await old.query('select pg_advisory_unlock_all()');
    await turn;
    expect(requested.slice(before)).to.deep.equal([]);
  }).timeout(WITHIN_MS);

  it('lets its waiters and programs that use pg_advisory_lock hold one after another', async () => {
    const [ours, theirs] = [client(), await other()];
    const ownership = await ours.acquire('jobs');
    const theirTurn = theirs.query(`select pg_advisory_lock(${KEY})`);
    await untilLocks({ held: 1, waiting: 1 });
    const again = client().acquire('jobs');
    await ownership.release();
    await theirTurn;
    await untilLocks({ held: 1, waiting: 1 });
    await theirs.query('select pg_advisory_unlock_all()');
    await (await again).release();
  }).timeout(WITHIN_MS);

  it('leaves no pending request for the advisory lock when a wait is cancelled', async () => {
    const old = await other();
    await old.query(`select pg_advisory_lock(${KEY})`);
    const ours = client();
    for (let nth = 0; nth < 3; nth += 1) {
      const giveUp = new AbortController();
      const waiting = ours.acquire('jobs', { signal: giveUp.signal });
      await untilLocks({ held: 1, waiting: 1 });
      giveUp.abort();
      await refusal(waiting);
      await untilLocks({ held: 1, waiting: 0 });
    }
    await old.query('select pg_advisory_unlock_all()');
    expect(await isFree()).to.equal(true);
  }).timeout(WITHIN_MS);

  it('excludes programs that wait with pg_advisory_lock or poll with pg_try_advisory_lock', async () => {
    const inside: string[] = [];
    const enter = async (who: string): Promise<void> => {
      inside.push(who);
      expect(inside).to.have.length(1);
      await new Promise(setImmediate);
      inside.pop();
    };
    const ours = Array.from({ length: 3 }, async () => {
      const made = client();
      for (let turn = 0; turn < 10; turn += 1) await made.run('jobs', () => enter('ours'));
    });
    const theirs = ['pg_advisory_lock', 'pg_try_advisory_lock'].map(async (lock) => {
      const made = await other();
      for (let turns = 0; turns < 10;) {
        const { rows } = await made.query<{ readonly got: unknown }>(`select ${lock}(${KEY})::text as got`);
        if (rows[0]?.got === 'false') continue;
        await enter('theirs');
        turns += 1;
        await made.query('select pg_advisory_unlock_all()');
      }
    });
    await Promise.all([...ours, ...theirs]);
  }).timeout(WITHIN_MS);

  it('grants a waiter when the program that has the lock crashes', async () => {
    const old = await other();
    await old.query(`select pg_advisory_lock(${KEY})`);
    const waiting = client().acquire('jobs');
    await untilLocks({ held: 1, waiting: 1 });
    old.connection.stream.destroy();
    await (await waiting).release();
  }).timeout(WITHIN_MS);

  it('frees the advisory lock when the holder crashes, and grants the next waiter after the lease', async () => {
    const holding = await holder();
    const theirs = (await other()).query(`select pg_advisory_lock(${KEY})`);
    await holding.kill();
    await theirs;
    await others[0]!.query('select pg_advisory_unlock_all()');
    await (await client().acquire('jobs')).release();
  }).timeout(WITHIN_MS);

  it('frees the advisory lock when the lease of a frozen holder ends', async function () {
    const [version] = await clients.column("select current_setting('server_version_num')::int");
    if (Number(version) < 140_000) {
      this['skipReason'] = 'servers before 14 end no connection that is silent';
      this.skip();
    }
    const holding = await holder();
    await holding.freeze();
    await (await other()).query(`select pg_advisory_lock(${KEY})`);
    await holding.thaw();
  }).timeout(WITHIN_MS);

  it('ends the hold when the connection that has the advisory lock ends', async () => {
    const ours = client();
    const ownership = await ours.acquire('jobs');
    const ended = once(ownership.signal, 'abort');
    await clients.column(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'`);
    await ended;
    expect((ownership.signal.reason as { readonly code: string }).code).to.equal('OWNERSHIP_LOST');
    await clients.until('select count(*)::int from queuelock.entry', 0);
    await (await ours.acquire('jobs')).release();
  }).timeout(WITHIN_MS);

  it('lets a waiter wait on a new connection when the connection of the waiter breaks', async () => {
    const old = await other();
    await old.query(`select pg_advisory_lock(${KEY})`);
    const waiting = client().acquire('jobs');
    await untilLocks({ held: 1, waiting: 1 });
    await clients.column(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted`,
    );
    await untilLocks({ held: 1, waiting: 1 });
    await old.query('select pg_advisory_unlock_all()');
    await (await waiting).release();
  }).timeout(WITHIN_MS);

  it('lets readers hold beside readers of other programs, and excludes writers of other programs', async () => {
    const [reader, writer] = [client(), await other()];
    const ownership = await reader.acquire('jobs', { mode: 'shared' });
    expect(await isFree('_shared')).to.equal(true);
    expect(await isFree()).to.equal(false);
    await ownership.release();
    await writer.query(`select pg_advisory_lock(${KEY})`);
    expect(await reader.tryAcquire('jobs', { mode: 'shared' })).to.equal(undefined);
  });

  it('converts the lock of a downgraded holder to a shared one while a writer waits', async () => {
    const session = await clients.session(clients.connect({ advisoryKey }));
    const spec = newSpec();
    await admitted(await session.enqueue(spec));
    const writer = await other();
    const theirs = writer.query(`select pg_advisory_lock(${KEY})`);
    await untilLocks({ held: 1, waiting: 1 });
    expect(await session.share!('jobs', spec.id, '')).to.equal(true);
    await clients.until(`${LOCKS} and granted and mode = 'ShareLock'`, 1);
    await clients.until(`${LOCKS} and granted`, 1);
    await session.remove('jobs', spec.id);
    await theirs;
  }).timeout(WITHIN_MS);

  for (const [args, key] of [
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-7, 2147483647', [-7, 2 ** 31 - 1]],
    ["hashtext('jobs')", { hashtext: 'jobs' }],
  ] as const)
    it(`excludes programs that call pg_advisory_lock(${args})`, async () => {
      const made = createLockClient(clients.connect({ advisoryKey: () => key }));
      locks.push(made);
      const ownership: Ownership = await made.acquire('jobs');
      expect(await isFree('', args)).to.equal(false);
      await ownership.release();
      expect(await isFree('', args)).to.equal(true);
    });

  it('accepts no limit above 1 and no lock of several names', async () => {
    const session = await clients.session(clients.connect({ advisoryKey }));
    const calls = [
      session.enqueue(newSpec({ limit: 2 })),
      session.tryEnqueue(newSpec({ limit: 2 })),
      session.enqueueAll!([newSpec(), newSpec({ queue: 'other' })]),
    ];
    for (const call of calls) expect(await refusal(call)).to.have.property('code', 'INVALID_ARGUMENT');
    for (const key of [2 ** 53, 2n ** 63n, [1, 2 ** 31], 'jobs', 0.5]) {
      const wrong = await clients.session(clients.connect({ advisoryKey: () => key as number }));
      expect(await refusal(wrong.enqueue(newSpec()))).to.have.property('code', 'INVALID_ARGUMENT');
    }
    await clients.until('select count(*)::int from queuelock.entry', 0);
  });

  it('removes the entry of a session that is resumed over another connection', async () => {
    const backend = clients.connect({ advisoryKey });
    const session = await clients.session(backend);
    const spec = newSpec();
    await admitted(await session.enqueue(spec));
    await session.abandon!();
    const resumed = await clients.connect({ advisoryKey }).resume!(session.resumption!, signal);
    expect(await refusal(resumed.enqueue(spec))).to.have.property('code', 'ENTRY_LOST');
    await clients.until('select count(*)::int from queuelock.entry', 0);
    await resumed.close();
    await backend.close();
  });

  it('keeps a new entry of a resumed session although the clock was set back', async () => {
    const backend = clients.connect({ advisoryKey });
    const session = await clients.session(backend);
    const before = newSpec({ queue: 'numbered-ahead' });
    await session.enqueue(before);
    await session.remove(before.queue, before.id);
    // Simulates that the server's clock was two hours ahead when the earlier process joined this queue.
    const ahead = '(extract(epoch from clock_timestamp()) * 1000000)::bigint + 7200000000';
    await clients.operator.query(`update queuelock.queue set last = ${ahead} where name = 'numbered-ahead'`);
    const inherited = await session.enqueue(newSpec({ queue: 'numbered-ahead' }));
    await session.abandon!();
    const resumed = await clients.connect({ advisoryKey }).resume!(session.resumption!, signal);
    const placement = await resumed.enqueue(newSpec());
    expect(placement.order < inherited.order).to.equal(true);
    await admitted(placement);
    await untilLocks({ held: 1, waiting: 0 });
    await resumed.close();
    await backend.close();
  });

  it('frees the advisory lock when an operator evicts the holder', async () => {
    const [session, operator] = [await clients.session(clients.connect({ advisoryKey })), clients.connect()];
    const placement = await session.enqueue(newSpec());
    const loss = lost(placement);
    await untilLocks({ held: 1, waiting: 0 });
    expect(await operator.evict!('jobs', placement)).to.equal(true);
    expect(await loss).to.equal('ENTRY_LOST');
    await untilLocks({ held: 0, waiting: 0 });
  }).timeout(WITHIN_MS);

  it('is refused behind a pooler in transaction mode', async () => {
    const pooler = await startPgBouncer(clients.server);
    try {
      const session = await clients.session(clients.connect({ url: postgresUrl(pooler), advisoryKey }));
      for (const call of [session.enqueue(newSpec()), session.tryEnqueue(newSpec())])
        expect(await refusal(call))
          .to.include({ code: 'INVALID_ARGUMENT' })
          .and.property('message')
          .contains('an advisory lock belongs to a connection');
      expect(await session.enqueue(newSpec({ queue: 'without' }))).to.have.deep.property('turn', {
        admitted: true,
      });
    } finally {
      await pooler.stop();
    }
  }).timeout(WITHIN_MS);
});
