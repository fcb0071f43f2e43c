import { expect } from 'chai';
import { systemClock } from '@queuelock/core/backend';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { loadDriver, type Database } from '../src/driver/driver.ts';
import { Lane } from '../src/file/lane.ts';
import { refusal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

const { DatabaseSync } = await loadDriver();

describe('steps on a SQLite file', () => {
  const clients = new Clients();
  let others: Database;

  /** Opens a second connection, with which the test locks the file as another process would. */
  async function openOthers(): Promise<Database> {
    await clients.session();
    return (others = new DatabaseSync(clients.file));
  }

  afterEach(() => {
    others.close();
  });

  it('wait for a locked file in the order of the calls without blocking the event loop', async () => {
    const session = await clients.session();
    const db = await openOthers();
    db.exec('begin immediate');
    const spec = newSpec();
    let done = false;
    const calls = Promise.all([
      session.enqueue(spec),
      session.update('jobs', spec.id, 'later'),
      session.remove('jobs', spec.id),
    ]);
    const replies = calls.finally(() => (done = true));
    for (let turns = 0; turns < 100; turns += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(done).to.equal(false);
    db.exec('commit');
    const [, updated, removed] = await replies;
    expect([updated, removed]).to.deep.equal([true, true]);
  });

  it('reject with UNAVAILABLE after a timeout, and never run later', async () => {
    const db = await openOthers();
    let now = 0;
    const clock = { ...systemClock(), now: () => now };
    const own = new DatabaseSync(clients.file);
    const lane = new Lane(own, {
      file: clients.file,
      clock,
      onCommit: () => undefined,
      onRollback: () => undefined,
    });
    db.exec('begin immediate');
    let taken = false;
    const step = lane.write(() => (taken = true));
    now = 60_000;
    const { code, message } = await refusal(step);
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.contain('was locked by other processes');
    db.exec('commit');
    await lane.write(() => undefined);
    expect(taken).to.equal(false);
    lane.close();
    own.close();
  });

  it('that throw are rolled back, and later steps run', async () => {
    const db = await openOthers();
    const own = new DatabaseSync(clients.file);
    let rolledBack = 0;
    const lane = new Lane(own, {
      file: clients.file,
      clock: systemClock(),
      onCommit: () => undefined,
      onRollback: () => (rolledBack += 1),
    });
    const failed = lane.write(() => {
      own.exec('delete from boot');
      throw new Error('in the middle');
    });
    expect((await refusal(failed)).message).to.contain('in the middle');
    expect(rolledBack).to.equal(1);
    expect(await lane.write(() => 'next')).to.equal('next');
    expect(db.prepare('select count(*) as n from boot').get()).to.include({ n: 1 });
    lane.close();
    expect(await refusal(lane.write(() => 'late'))).to.have.property('code', 'CLOSED');
    own.close();
  });

  it('do not block the event loop when 2,000 of them are requested at once', async () => {
    await openOthers();
    const session = await clients.session();
    const crowd = Array.from({ length: 2_000 }, () => session.enqueue(newSpec()));
    let turns = 0;
    let over = false;
    const count = (): void => {
      turns += 1;
      if (!over) setImmediate(count);
    };
    count();
    await Promise.all(crowd);
    over = true;
    expect(turns).to.be.greaterThan(10);
  });
});

describe('a process that has used a SQLite file', () => {
  const clients = new Clients();

  it('exits by itself after all its backends are closed', async () => {
    const script = fileURLToPath(new URL('./whole-life.ts', import.meta.url));
    // Node 22 prints a warning for its built-in SQLite.
    const execArgv = [...process.execArgv, '--disable-warning=ExperimentalWarning'];
    const child: ChildProcess = fork(script, [clients.file], { silent: true, execArgv });
    let printed = '';
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk) => (printed += String(chunk)));
    const exit = once(child, 'exit');
    await once(child, 'message');
    child.disconnect();
    expect(await exit).to.deep.equal([0, null]);
    expect(printed).to.equal('');
  }).timeout(30_000);
});
