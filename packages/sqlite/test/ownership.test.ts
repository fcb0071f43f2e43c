import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { admitted, refusal, newSpec } from '@queuelock/harness/specs';
import { ownMark } from '../src/base/machine.ts';
import { directoryFault, fileFault } from '../src/file/ownership.ts';
import { homeFrom } from '../src/queue/sessions.ts';
import { isInboxOf } from '../src/turn/inbox.ts';
import { Clients } from './clients.ts';

const SCRIPT = fileURLToPath(new URL('./hostile-file.ts', import.meta.url));
const OTHER_USER = 65_534;

describe('a SQLite file that another user can change', () => {
  const clients = new Clients();

  /**
   * Adds a session of an ended process to the lock file. The session's inbox is a file of this user. Returns
   * the path of that file.
   */
  function plant(): string {
    const folder = join(clients.directory, 'private');
    mkdirSync(folder, { mode: 0o700 });
    const victim = join(folder, 'victim');
    writeFileSync(victim, 'precious');
    const args = [...process.execArgv, SCRIPT, clients.file, victim, ownMark().namespace];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
    return victim;
  }

  it('cannot make queuelock remove an unrelated file whose path it contains as a notification socket', async () => {
    const victim = plant();
    const placement = await (await clients.session()).enqueue(newSpec());
    await admitted(placement);
    // If queuelock removed the inbox of the session that it has ended, it would do so before the next turn of
    // the event loop. So the test waits for that turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(existsSync(victim)).to.equal(true);
  });

  it('is refused when it belongs to another user, even if the process runs as root', async function () {
    if (process.geteuid?.() !== 0) this.skip();
    const victim = plant();
    for (const name of [clients.file, `${clients.file}-wal`, `${clients.file}-shm`])
      if (existsSync(name)) chownSync(name, OTHER_USER, OTHER_USER);
    const { code, message } = await refusal(clients.session());
    expect(code).to.equal('ACCESS_DENIED');
    expect(message).to.contain(`belongs to user ${OTHER_USER}`);
    expect(existsSync(victim)).to.equal(true);
  });

  it('is refused when its group may write to it', async () => {
    writeFileSync(clients.file, '');
    chmodSync(clients.file, 0o660);
    const { code, message } = await refusal(clients.session());
    expect(code).to.equal('ACCESS_DENIED');
    expect(message).to.contain('is writable by its group or by others');
  });

  it('is refused when a side file belongs to another user', async function () {
    if (process.geteuid?.() !== 0) this.skip();
    writeFileSync(`${clients.file}-wal`, '');
    chownSync(`${clients.file}-wal`, OTHER_USER, OTHER_USER);
    expect(await refusal(clients.session())).to.have.property('code', 'ACCESS_DENIED');
  });

  it('is refused when all users may write to its directory', async () => {
    chmodSync(clients.directory, 0o777);
    expect(await refusal(clients.session())).to.have.property('code', 'ACCESS_DENIED');
  });

  it('is refused unless the user of the process owns it and alone may write', () => {
    expect(fileFault({ uid: 7, mode: 0o100600 }, 7)).to.equal(undefined);
    expect(fileFault({ uid: 7, mode: 0o100644 }, 7)).to.equal(undefined);
    for (const [uid, mode] of [
      [8, 0o600],
      [0, 0o600],
      [7, 0o620],
      [7, 0o602],
    ] as const)
      expect(fileFault({ uid, mode }, 7), `${uid} ${mode}`).to.be.a('string');
    for (const [uid, mode] of [
      [7, 0o755],
      [0, 0o1777],
      [7, 0o775],
    ] as const)
      expect(directoryFault({ uid, mode }, 7), `${uid} ${mode}`).to.equal(undefined);
    for (const [uid, mode] of [
      [8, 0o755],
      [7, 0o777],
    ] as const)
      expect(directoryFault({ uid, mode }, 7), `${uid} ${mode}`).to.be.a('string');
  });
});

describe('the path of a notification socket in a SQLite file', () => {
  const clients = new Clients();

  it('is used only if a socket exists there, in the private socket folder of the file', async () => {
    const folder = `${clients.file}-inbox`;
    const elsewhere = join(clients.directory, 'elsewhere');
    for (const name of [folder, elsewhere]) mkdirSync(name, { mode: 0o700 });
    const paths = [folder, elsewhere].map((name) => join(name, '0123456789abcdef'));
    const servers = await Promise.all(
      paths.map(
        (path) =>
          new Promise<ReturnType<typeof createServer>>((resolve) => {
            const server = createServer().listen(path, () => resolve(server));
          }),
      ),
    );
    writeFileSync(join(folder, 'fedcba9876543210'), '');
    expect(paths.map((path) => isInboxOf(clients.file, path))).to.deep.equal([true, false]);
    for (const path of [
      '',
      `${folder}/fedcba9876543210`,
      `${folder}/x`,
      `${folder}/../elsewhere/0123456789abcdef`,
    ])
      expect(isInboxOf(clients.file, path), path).to.equal(false);
    chmodSync(folder, 0o770);
    expect(isInboxOf(clients.file, paths[0]!)).to.equal(false);
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  });

  it('is ignored if the file contains invalid data about the process of the socket', () => {
    const home = { inbox: join(tmpdir(), 'x'), pid: 7, started: '12', namespace: 'pid:[4026531836]' };
    expect(homeFrom(home)).to.deep.equal(home);
    for (const wrong of [
      { pid: 0 },
      { pid: -1 },
      { pid: 1.5 },
      { pid: 2 ** 31 },
      { started: 'x' },
      { namespace: '../x' },
      { inbox: 7 },
    ])
      expect(homeFrom({ ...home, ...wrong }), JSON.stringify(wrong)).to.have.property('namespace', '');
  });
});
