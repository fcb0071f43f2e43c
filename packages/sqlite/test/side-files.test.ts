import { createLockClient, type LockClient } from '@queuelock/core';
import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, renameSync, unlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { refusal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

const SCRIPT = fileURLToPath(new URL('./processes.ts', import.meta.url));

describe('a process that uses a SQLite file and its side files', () => {
  const clients = new Clients();
  const open: LockClient[] = [];

  afterEach(async () => {
    await Promise.all(open.splice(0).map((client) => client.close()));
  });

  for (const parts of [['-wal'], ['-shm'], ['-wal', '-shm'], ['', '-wal', '-shm']])
    it(`loses its hold before another process is granted after the removal of ${parts.map((part) => part || 'the file').join(' and ')}`, async () => {
      const client = createLockClient(clients.connect(), { ttlMs: 2_000 });
      open.push(client);
      const hold = await client.acquire('jobs');
      for (const part of parts) unlinkSync(clients.file + part);
      const child = fork(SCRIPT, [clients.file]);
      const exit = once(child, 'exit');
      const granted = once(child, 'message');
      const lost = once(hold.signal, 'abort');
      const first = await Promise.race([lost.then(() => 'lost'), granted.then(() => 'granted')]);
      await granted;
      expect(first).to.equal('lost');
      expect(hold.held).to.equal(false);
      child.send('end');
      await exit;
    }).timeout(20_000);

  for (const part of ['-wal', '-shm'])
    it(`loses its session at its next step if the side file ${part} was replaced`, async () => {
      const session = await clients.session();
      await session.enqueue(newSpec());
      copyFileSync(clients.file + part, `${clients.file}.copy`);
      renameSync(`${clients.file}.copy`, clients.file + part);
      const { code, message } = await refusal(session.renew(new AbortController().signal));
      expect(code).to.equal('SESSION_LOST');
      expect(message).to.contain('-wal');
    });

  it('does not lose its session when other clients open and close the file', async () => {
    const session = await clients.session();
    await session.enqueue(newSpec());
    for (let round = 0; round < 3; round += 1) {
      const other = clients.connect();
      await (await clients.session(other)).close();
      await other.close();
      await session.renew(new AbortController().signal);
    }
  });
});
