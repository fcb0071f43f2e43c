import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createLockClient, type LockClient } from '@queuelock/core';
import { sharedConsul } from '@queuelock/harness/services';
import { consulCommand } from '@queuelock/harness/services/consul-process';
import { until } from '@queuelock/harness/services/until';
import { consul } from '@queuelock/consul';
import { Operator } from './operator.ts';

const PREFIX = 'single/';
const KEY = 'service/jobs/.lock';

describe('a queue of Consul with a single key, beside consul lock', function () {
  this.timeout(60_000);
  const clients: LockClient[] = [];
  const programs: ChildProcess[] = [];
  let endpoint: string;
  let operator: Operator;
  let program: string;

  before(async () => {
    ({ endpoint } = await sharedConsul('consul lock beside @queuelock/consul'));
    operator = new Operator(endpoint);
    program = await consulCommand();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    for (const child of programs.splice(0)) {
      if (child.exitCode !== null) continue;
      child.stdin?.end();
      await once(child, 'exit');
    }
  });

  function client(key = KEY, queues: readonly string[] = ['jobs']): LockClient {
    const singleKey = (queue: string): string | undefined => (queues.includes(queue) ? key : undefined);
    const made = createLockClient(consul({ hosts: endpoint, prefix: PREFIX, singleKey }));
    clients.push(made);
    return made;
  }

  /** Starts `consul lock`, which holds the lock until its input is closed. `held` resolves when it holds. */
  function consulLock(): { readonly child: ChildProcess; readonly held: Promise<unknown> } {
    const args = ['lock', '-pass-stdin', `-http-addr=http://${endpoint}`, 'service/jobs', 'echo held; cat'];
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    programs.push(child);
    return { child, held: once(child.stdout, 'data') };
  }

  async function entries(count: number): Promise<void> {
    const read = async (): Promise<void> => {
      const found = await operator.keysUnder(`${PREFIX}queues/jobs/`);
      if (found.length !== count) throw new Error(`${found.length} entries`);
    };
    await until(read, { what: `${count} entries are in the queue`, withinMs: 10_000 });
  }

  it('does not grant a claim while another queue with the same single key has a holder', async () => {
    const one = client(KEY, ['jobs', 'others']);
    const jobs = await one.acquire('jobs');
    expect(await one.tryAcquire('others')).to.equal(undefined);
    const waiting = one.acquire('others');
    await until(
      async () => {
        const found = await operator.keysUnder(`${PREFIX}queues/others/`);
        if (found.length !== 1) throw new Error(`${found.length} entries`);
      },
      { what: 'the waiter of the other queue is there', withinMs: 10_000 },
    );
    expect(jobs.held).to.equal(true);
    await jobs.release();
    const others = await waiting;
    expect(await one.tryAcquire('jobs')).to.equal(undefined);
    expect(others.held).to.equal(true);
    await others.release();
  });

  it('grants its waiters the lock in order after consul lock has released the key', async () => {
    const theirs = consulLock();
    await theirs.held;
    const [one, other] = [client(), client()];
    expect(await one.tryAcquire('jobs')).to.equal(undefined);
    const first = one.acquire('jobs');
    await entries(1);
    const second = other.acquire('jobs');
    await entries(2);
    theirs.child.stdin?.end();
    const ownership = await first;
    const [pair] = (await operator.ask('GET', `/v1/kv/${KEY}`)) as readonly { readonly Flags: number }[];
    expect(pair?.Flags).to.equal(Number(0x2ddccbc058a50c18n));
    await ownership.release();
    const next = await second;
    expect(next.token > ownership.token).to.equal(true);
    await next.release();
    expect(await operator.ask('GET', `/v1/kv/${KEY}`)).to.deep.equal([]);
  });

  it('makes consul lock wait while a client of queuelock holds, until that client releases', async () => {
    const ownership = await client().acquire('jobs');
    const theirs = consulLock();
    let isHeld = false;
    void theirs.held.then(() => {
      isHeld = true;
    });
    const waits = async (): Promise<void> => {
      const sessions = (await operator.ask('GET', '/v1/session/list')) as readonly {
        readonly Name: string;
      }[];
      if (!sessions.some(({ Name }) => Name.includes('lock for'))) throw new Error('not yet');
    };
    await until(waits, { what: 'consul lock waits', withinMs: 20_000 });
    expect(isHeld).to.equal(false);
    await ownership.release();
    await theirs.held;
    expect(await client().tryAcquire('jobs')).to.equal(undefined);
  });

  it('revokes the hold when an operator deletes the key', async () => {
    const ownership = await client().acquire('jobs');
    const lost = once(ownership.signal, 'abort');
    await operator.remove(KEY);
    await lost;
    expect(ownership.held).to.equal(false);
  });

  it('keeps the key for the holder when a waiter of the same client gives up', async () => {
    const locks = client();
    const ownership = await locks.acquire('jobs');
    const leaving = new AbortController();
    const waiter = locks.acquire('jobs', { signal: leaving.signal }).catch((error: unknown) => error);
    await entries(2);
    leaving.abort();
    await waiter;
    await entries(1);
    const [pair] = (await operator.ask('GET', `/v1/kv/${KEY}`)) as readonly { readonly Session?: string }[];
    expect(pair?.Session).to.be.a('string');
    expect(ownership.held).to.equal(true);
    await ownership.release();
    expect(await operator.ask('GET', `/v1/kv/${KEY}`)).to.deep.equal([]);
  });

  it("grants the next waiter when an operator removes the holder's entry", async () => {
    const holder = client();
    const ownership = await holder.acquire('jobs');
    const lost = once(ownership.signal, 'abort');
    const next = client().acquire('jobs');
    await entries(2);
    await operator.remove(ownership.key);
    const taken = await next;
    await lost;
    expect(taken.token > ownership.token).to.equal(true);
    await taken.release();
    expect(await operator.ask('GET', `/v1/kv/${KEY}`)).to.deep.equal([]);
  });

  it('rejects with FOREIGN_FORMAT if the single key has a value but is not locked, and does not overwrite it', async () => {
    await operator.ask('PUT', '/v1/kv/service/data', 'something else');
    const refusal = await client('service/data')
      .acquire('jobs')
      .catch((error: unknown) => error);
    expect(refusal).to.have.property('code', 'FOREIGN_FORMAT');
    const [pair] = (await operator.ask('GET', '/v1/kv/service/data')) as readonly {
      readonly Value: string;
    }[];
    expect(Buffer.from(pair!.Value, 'base64').toString()).to.equal('something else');
    await operator.remove('service/data');
  });

  it('refuses readers, limits above 1, and multi-locks', async () => {
    const locks = client();
    for (const options of [{ mode: 'shared' as const }, { limit: 2 }]) {
      const refusal = await locks.acquire('jobs', options).catch((error: unknown) => error);
      expect(refusal).to.have.property('code', 'INVALID_ARGUMENT');
    }
    const both = await locks
      .multi(['jobs', 'other'])
      .acquire()
      .catch((error: unknown) => error);
    expect(both).to.have.property('code', 'INVALID_ARGUMENT');
    const own = await client(`${PREFIX}queues/x`)
      .acquire('jobs')
      .catch((error: unknown) => error);
    expect(own).to.have.property('code', 'INVALID_ARGUMENT');
  });
});
