import { expect } from 'chai';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hasEnded, ownMark } from '../src/base/machine.ts';
import { until } from '@queuelock/harness/services/until';
import { admitted, refusal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

const SCRIPT = fileURLToPath(new URL('./processes.ts', import.meta.url));
const LEASE_MS = 60_000;

describe('the end of a process with entries in a SQLite file', () => {
  const clients = new Clients();
  const children: ChildProcess[] = [];

  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  function start(...more: readonly string[]): ChildProcess {
    const child = fork(SCRIPT, [clients.file, ...more]);
    children.push(child);
    return child;
  }

  async function kill(child: ChildProcess): Promise<void> {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  it('admits the next waiter before the lease expires', async () => {
    const child = start();
    await once(child, 'message');
    const session = await clients.session();
    const placement = await session.enqueue(newSpec());
    expect(placement.turn).to.deep.equal({ admitted: false, ahead: 1 });
    const turn = admitted(placement);
    await kill(child);
    const diedAt = performance.now();
    await turn;
    expect(performance.now() - diedAt).to.be.lessThan(LEASE_MS / 4);
  });

  it('is noticed when the entry of the process reaches the front of the queue', async () => {
    const session = await clients.session();
    const mine = newSpec();
    const child = start();
    await session.enqueue(mine);
    const depth = new Promise<void>((resolve) => {
      const watching = clients
        .connect()
        .observe('jobs')
        .subscribe((entries) => {
          if (entries.length < 2) return;
          setImmediate(() => watching.unsubscribe());
          resolve();
        });
    });
    await depth;
    const last = await (await clients.session()).enqueue(newSpec());
    const turn = admitted(last);
    await kill(child);
    const diedAt = performance.now();
    await session.remove('jobs', mine.id);
    await turn;
    expect(performance.now() - diedAt).to.be.lessThan(LEASE_MS / 4);
  });

  it('does not end an exported session, which another process can resume', async () => {
    const child = start('resumption');
    const [reported] = (await once(child, 'message')) as [{ resumption: string }];
    await once(child, 'message');
    const waiting = await (await clients.session()).enqueue(newSpec());
    const turn = admitted(waiting);
    await kill(child);
    const session = await clients.connect().resume!(reported.resumption, new AbortController().signal);
    expect(await session.renew(new AbortController().signal)).to.equal(LEASE_MS);
    await session.close();
    await turn;
  });

  it('leaves a socket for notifications, which another process removes', async () => {
    const child = start();
    await once(child, 'message');
    const placement = await (await clients.session()).enqueue(newSpec());
    const turn = admitted(placement);
    await kill(child);
    await turn;
    const inboxes = (): readonly string[] => readdirSync(`${clients.file}-inbox`);
    await until(async () => expect(inboxes()).to.have.length(1), { what: 'one inbox', withinMs: 20_000 });
  });

  it('needs no process.exit() after the process has closed its client', async () => {
    const child = start();
    await once(child, 'message');
    const exit = once(child, 'exit');
    child.send('end');
    expect(await exit).to.deep.equal([0, null]);
    expect(existsSync(`${clients.file}-inbox`)).to.equal(false);
  });

  it('is recognized even if a later process has the same pid', () => {
    const own = ownMark();
    const other = { ...own, pid: process.ppid };
    expect(hasEnded(other, own), 'started at another time').to.equal(true);
    expect(hasEnded({ ...other, started: '' }, own), 'the start is unknown').to.equal(false);
    expect(hasEnded({ ...other, namespace: 'pid:[1]' }, own), 'of another namespace').to.equal(false);
    expect(hasEnded(own, own), 'the own one').to.equal(false);
    expect(hasEnded({ ...own, started: '1' }, own), 'one that had the own number').to.equal(true);
  });
});

describe('a session that another process has resumed', () => {
  const clients = new Clients();

  it('is lost for the client that had it before', async () => {
    const former = await clients.session();
    const held = newSpec();
    await former.enqueue(held);
    const session = await clients.connect().resume!(former.resumption!, new AbortController().signal);
    const again = await session.enqueue(held);
    expect(again.turn.admitted).to.equal(true);
    const { signal } = new AbortController();
    expect(await refusal(former.renew(signal))).to.have.property('code', 'SESSION_LOST');
    expect(await refusal(former.enqueue(newSpec()))).to.have.property('code', 'SESSION_LOST');
    expect(await former.remove('jobs', held.id)).to.equal(false);
    await former.close();
    expect(await session.remove('jobs', held.id)).to.equal(true);
  });
});
