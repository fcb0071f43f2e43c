import type { Backend } from '@queuelock/core/backend';
import { expect } from 'chai';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { loadDriver, type Database } from '../src/driver/driver.ts';
import { unfitFileSystem } from '../src/file/file.ts';
import {
  APPLICATION_ID,
  STEPS,
  TOKENS_PER_BOOT,
  fileKindOf,
  requireUsable,
  startBoot,
  upgrade,
} from '../src/queue/schema.ts';
import { refusal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

const { DatabaseSync } = await loadDriver();

/**
 * Observes a queue. Resolves after the first value, with a function that resolves with the observer's error.
 */
async function failureOfObserver(backend: Backend): Promise<() => Promise<unknown>> {
  let failed: Promise<unknown> | undefined;
  await new Promise<void>((seen) => {
    failed = new Promise((error) => backend.observe('jobs').subscribe({ next: () => seen(), error }));
  });
  return async () => failed;
}

describe('the SQLite file', () => {
  const clients = new Clients();

  async function openingIs(file: string): Promise<{ readonly code: string; readonly message: string }> {
    return refusal(clients.session(clients.connect(file)));
  }

  function withDatabase<T>(file: string, use: (db: Database) => T): T {
    const db = new DatabaseSync(file);
    try {
      return use(db);
    } finally {
      db.close();
    }
  }

  it('is readable and writable for this user only, and so are its side files', async () => {
    await clients.session();
    for (const name of readdirSync(clients.directory)) {
      const { mode } = statSync(join(clients.directory, name));
      expect((mode & 0o777).toString(8), name).to.equal(name.endsWith('-inbox') ? '700' : '600');
    }
    expect(existsSync(clients.file)).to.equal(true);
  });

  it('has no folder of notification sockets beside it after all backends are closed', async () => {
    const backends = [clients.connect(), clients.connect()];
    for (const backend of backends) await (await clients.session(backend)).close();
    for (const backend of backends) await backend.close();
    // The SQLite package for Node 20 closes a file completely only when its statements are garbage-collected.
    const names = readdirSync(clients.directory).filter((name) => !/-(?:wal|shm)$/.test(name));
    expect(names).to.deep.equal(['locks.db']);
  });

  it('of another program is refused and not changed', async () => {
    withDatabase(clients.file, (db) => db.exec('create table customers (name text)'));
    const before = readFileSync(clients.file);
    const { code, message } = await openingIs(clients.file);
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.contain('a database of another program');
    expect(readFileSync(clients.file).equals(before)).to.equal(true);
  });

  for (const step of [1, 2, 3])
    it(`is accepted even if another process creates it just before SQL statement ${step} of the check`, () => {
      withDatabase(clients.file, (maker) =>
        withDatabase(clients.file, (db) => {
          let statements = 0;
          const lastRead = fileKindOf({
            prepare: (sql) => {
              if ((statements += 1) === step) {
                maker.exec('begin immediate');
                upgrade(maker, fileKindOf(maker));
                maker.exec('commit');
              }
              return db.prepare(sql);
            },
          });
          expect(lastRead.kind).to.not.equal('foreign');
        }),
      );
    });

  it('that is not a database is refused and not changed', async () => {
    writeFileSync(clients.file, 'notes '.repeat(500));
    const { code, message } = await openingIs(clients.file);
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.contain('damaged or not a SQLite file');
    expect(readFileSync(clients.file, 'utf8')).to.equal('notes '.repeat(500));
  });

  it('that was truncated is refused and not changed', async () => {
    const backend = clients.connect();
    const session = await clients.session(backend);
    for (let n = 0; n < 200; n += 1) await session.enqueue(newSpec({ value: 'x'.repeat(1_000) }));
    await backend.close();
    truncateSync(clients.file, 3 * 4_096);
    const before = readFileSync(clients.file);
    const { code, message } = await openingIs(clients.file);
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.contain('damaged');
    expect(readFileSync(clients.file).equals(before)).to.equal(true);
  });

  it('of a later release is refused and not changed', async () => {
    withDatabase(clients.file, (db) =>
      db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${STEPS.length + 1}`),
    );
    const { code, message } = await openingIs(clients.file);
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.contain('of a later release');
  });

  it('of an earlier release is upgraded and keeps its content', () => {
    withDatabase(clients.file, (db) => {
      upgrade(db, fileKindOf(db));
      db.exec(`insert into register values (x'01', 'limit', 'v', x'02')`);
      const steps = [...STEPS, 'alter table session add column host text'];
      requireUsable(fileKindOf(db), clients.file, steps);
      upgrade(db, fileKindOf(db), steps);
      expect(fileKindOf(db)).to.deep.equal({ kind: 'ours', version: steps.length });
      expect(db.prepare('select kind from register').all()).to.have.length(1);
      expect(db.prepare('select host from session').all()).to.deep.equal([]);
      expect(() => requireUsable(fileKindOf(db), clients.file)).to.throw('of a later release');
    });
  });

  it('has no entries after a restart of the machine, and continues with tokens far above the earlier ones', async () => {
    const backend = clients.connect();
    const session = await clients.session(backend);
    const { token } = await session.enqueue(newSpec());
    await backend.close();
    withDatabase(clients.file, (db) => startBoot(db, 'another boot'));
    const later = await clients.session();
    const placement = await later.enqueue(newSpec());
    expect(placement.turn.admitted).to.equal(true);
    expect(placement.token >= token + BigInt(TOKENS_PER_BOOT)).to.equal(true);
  });

  it('is the same file when it is opened through a symbolic link', async () => {
    mkdirSync(join(clients.directory, 'data'));
    const file = join(clients.directory, 'data', 'locks.db');
    const holder = await (await clients.session(clients.connect(file))).enqueue(newSpec());
    symlinkSync(file, join(clients.directory, 'link.db'));
    const waiter = await (
      await clients.session(clients.connect(join(clients.directory, 'link.db')))
    ).enqueue(newSpec());
    expect([holder.turn.admitted, waiter.turn.admitted]).to.deep.equal([true, false]);
  });

  it('must be in an existing directory', async () => {
    const { code, message } = await openingIs(join(clients.directory, 'nowhere', 'locks.db'));
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.contain('is in an existing directory');
  });

  it('must be a regular file', async () => {
    expect(await openingIs(clients.directory)).to.have.property('code', 'INVALID_ARGUMENT');
  });

  it('ends all of its sessions when it is removed, and a new file starts empty', async () => {
    const backend = clients.connect();
    const session = await clients.session(backend);
    const { turns$ } = await session.enqueue(newSpec());
    const lost = new Promise((resolve) => turns$.subscribe({ error: resolve }));
    unlinkSync(clients.file);
    expect(await refusal(session.renew(new AbortController().signal))).to.have.property(
      'code',
      'SESSION_LOST',
    );
    expect(await lost).to.have.property('code', 'SESSION_LOST');
    expect((await (await clients.session(backend)).enqueue(newSpec())).turn.admitted).to.equal(true);
  });

  it('ends its sessions and observers after its removal, even if a new session creates it again at once', async () => {
    const backend = clients.connect();
    const sessions = [await clients.session(backend), await clients.session(backend)];
    const failed = await failureOfObserver(backend);
    unlinkSync(clients.file);
    expect((await (await clients.session(backend)).enqueue(newSpec())).turn.admitted).to.equal(true);
    expect(await failed()).to.have.property('code', 'SESSION_LOST');
    for (const session of sessions)
      expect(await refusal(session.renew(new AbortController().signal))).to.have.property(
        'code',
        'SESSION_LOST',
      );
  });

  it('ends its observers when it is replaced', async () => {
    const backend = clients.connect();
    await clients.session(backend);
    const failed = await failureOfObserver(backend);
    const other = join(clients.directory, 'other.db');
    copyFileSync(clients.file, other);
    renameSync(other, clients.file);
    expect(await failed()).to.have.property('code', 'SESSION_LOST');
  });

  it('is ok in a diagnosis, with a warning if other users can read it', async () => {
    const backend = clients.connect();
    await (await clients.session(backend)).enqueue(newSpec());
    const findings = await backend.diagnose!('');
    expect(findings.map(({ level }) => level)).to.deep.equal(['ok', 'ok']);
    expect(findings[1]?.text).to.equal('1 queues with entries, 1 sessions');
    chmodSync(clients.file, 0o644);
    expect((await backend.diagnose!('')).map(({ level }) => level)).to.include('warning');
  });
});

describe('a file system', () => {
  const names: readonly (readonly [number, string | undefined])[] = [
    [0x6969, 'NFS'],
    [0xff534d42 | 0, 'CIFS'],
    [0xfe534d42, 'SMB'],
    [0x65735546, 'FUSE'],
    [0x01021997, '9P'],
    [0xef53, undefined],
    [0x58465342, undefined],
    [0x01021994, undefined],
    [0x794c7630, undefined],
  ];
  for (const [type, name] of names) {
    it(`of type 0x${(type >>> 0).toString(16)} is ${name === undefined ? 'accepted' : `refused as ${name}`}`, () => {
      expect(unfitFileSystem(type)).to.equal(name);
    });
  }
});
