import { statSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from '@queuelock/core/backend';
import { unfitFileSystem } from './file/file.ts';
import { bootId, machineTime } from './base/machine.ts';
import { numberFrom } from './queue/schema.ts';
import type { Home } from './queue/sessions.ts';
import type { Store } from './file/store.ts';

// The size from which a write-ahead log is reported, in bytes. It becomes that large only if another program
// reads the file all the time, so that no checkpoint can copy the log to the file.
const LARGE_LOG_BYTES = 64 * 1024 ** 2;

// An error is reported if the file system has less free space than this, in bytes. The write-ahead log may
// grow by about as much during a few checkpoints.
const SPACE_BYTES = 16 * 1024 ** 2;

/**
 * Returns findings about the file, about this machine, and about the queues and sessions in the file. Changes
 * nothing.
 */
export function diagnose(store: Store, home: Home, prefix: string): readonly Finding[] {
  const { path, db } = store.file;
  const about = path;
  return [
    integrity(store),
    ...permissions(path),
    ...log(path),
    ...placement(path, about),
    ...machine(home),
    {
      level: 'ok',
      about: prefix === '' ? 'queues' : `queues ${prefix}…`,
      text: `${store.views.queues(prefix).length} queues with entries, ${numberFrom(db, 'select count(*) from session')} sessions`,
    },
  ];
}

function integrity({ file: { db, path } }: Store): Finding {
  const begun = machineTime();
  const [verdict] = Object.values(db.prepare('pragma quick_check(1)').get() as Record<string, unknown>);
  const tookMs = (machineTime() - begun) / 1_000;
  const version = Object.values(db.prepare('select sqlite_version()').get() as Record<string, unknown>)[0];
  if (verdict === 'ok')
    return {
      level: 'ok',
      about: path,
      text: `sound, read by SQLite ${String(version)} in ${tookMs.toFixed(1)} ms`,
    };
  const text = `it is damaged (${String(verdict)}): stop all processes that use it, and move it away`;
  return { level: 'error', about: path, text };
}

function permissions(path: string): readonly Finding[] {
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return [];
  const text = 'other users can read it: run chmod 600';
  return [{ level: 'warning', about: path, text }];
}

function log(path: string): readonly Finding[] {
  const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (size < LARGE_LOG_BYTES) return [];
  const text = `its log has ${Math.round(size / 1024 ** 2)} MiB: another program reads the file all the time; no other program may open it`;
  return [{ level: 'warning', about: path, text }];
}

function placement(path: string, about: string): readonly Finding[] {
  const { type, bavail, bsize } = statfsSync(dirname(path));
  const unfit = unfitFileSystem(type);
  if (unfit === undefined) return space(bavail * bsize, about);
  return [
    {
      level: 'error',
      about,
      text: `it is on ${unfit}, where file locks do not work across machines`,
    },
  ];
}

/** Returns findings about the free space of the file system. */
export function space(bytes: number, about: string): readonly Finding[] {
  if (bytes >= SPACE_BYTES) return [];
  const text = `its file system has only ${Math.floor(bytes / 1024)} KiB left, and without space no client can enqueue, release or send a heartbeat: free some`;
  return [{ level: 'error', about, text }];
}

function machine({ namespace }: Home): readonly Finding[] {
  const findings: Finding[] = [];
  if (bootId() === '')
    findings.push({
      level: 'warning',
      about: 'this machine',
      text: 'it does not report a boot id: the file is synced at every step, and sessions of an earlier boot end with their TTL',
    });
  if (namespace === '')
    findings.push({
      level: 'warning',
      about: 'this machine',
      text: 'it does not report which processes have ended: after a crash, the queue waits for the TTL',
    });
  return findings;
}
