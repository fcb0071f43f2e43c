// The kinds of locks that measure.ts compares. Each runs work while it holds the lock.
import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createLockClient } from '@queuelock/core';
import { sqlite } from '@queuelock/sqlite';
import { lock } from 'proper-lockfile';
import { loadDriver } from '../src/driver/driver.ts';
import { machineTime } from '../src/base/machine.ts';

/** A lock as a contender uses it. `token` is its fencing token, if it has one. */
interface Locker {
  run(work: (token: number) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

const NAME = 'contest';

type Make = (file: string) => Promise<Locker>;

async function queuelock(file: string): Promise<Locker> {
  // The TTL is so long that no lease expires during the measurement. So each grant follows a release.
  const client = createLockClient(sqlite({ file }), { ttlMs: 60_000 });
  // Opens the file before the measurement, as the other kinds of locks do.
  await client.run(`opened by ${process.pid}`, async () => undefined);
  return {
    run: (work) => client.run(NAME, ({ token }) => work(Number(token))),
    close: () => client.close(),
  };
}

function properLockfile(everyMs: number): Make {
  const retries = { forever: true, factor: 1, minTimeout: everyMs, maxTimeout: everyMs };
  return async (file) => {
    writeFileSync(file, '', { flag: 'a' });
    return {
      async run(work) {
        const release = await lock(file, { retries });
        await work(0);
        await release();
      },
      close: async () => undefined,
    };
  };
}

/** A lock as many programs implement it: a row with an owner and an expiry time. */
function polledRow(everyMs: number): Make {
  return async (file) => {
    const { DatabaseSync } = await loadDriver();
    const db = new DatabaseSync(file);
    db.exec('pragma busy_timeout = 1000; pragma journal_mode = wal; pragma synchronous = normal');
    db.exec('create table if not exists lock (name text primary key, owner integer, ends integer)');
    const take = db.prepare(
      'insert into lock values (?1, ?2, ?3) on conflict do update set owner = ?2, ends = ?3 where ends <= ?4',
    );
    const free = db.prepare('delete from lock where name = ? and owner = ?');
    const isTaken = (now: number): boolean =>
      Number(take.run(NAME, process.pid, now + 10_000_000, now).changes) > 0;
    return {
      async run(work) {
        while (!isTaken(machineTime())) await pause(everyMs);
        await work(0);
        free.run(NAME, process.pid);
      },
      close: async () => db.close(),
    };
  };
}

/** For each kind of lock that is compared, a function that creates such a lock over a file. */
export const LOCKERS: Readonly<Record<string, Make>> = {
  queuelock,
  'proper-lockfile, tries every 10 ms': properLockfile(10),
  'proper-lockfile, tries every 100 ms': properLockfile(100),
  'a row in SQLite, polled every 10 ms': polledRow(10),
};
