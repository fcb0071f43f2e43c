import { statSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from '@queuelock/core/backend';
import { unfitFileSystem } from './file/file.ts';
import { bootId, machineTime } from './base/machine.ts';
import { numberFrom } from './queue/schema.ts';
import type { Home } from './queue/sessions.ts';
import type { Store } from './file/store.ts';

// A log that is never taken over into the file: somebody reads in it all the time.
const LARGE_LOG_BYTES = 64 * 1024 ** 2;

/** What is to be said about the file, about this machine, and about who uses it. Changes nothing. */
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
      text: `${store.views.queues(prefix).length} queues with somebody in them, ${numberFrom(db, 'select count(*) from session')} sessions`,
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
  const text = `it is damaged (${String(verdict)}): stop who uses it, and move it away`;
  return { level: 'error', about: path, text };
}

function permissions(path: string): readonly Finding[] {
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return [];
  const text = 'other users may read it: chmod 600';
  return [{ level: 'warning', about: path, text }];
}

function log(path: string): readonly Finding[] {
  const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (size < LARGE_LOG_BYTES) return [];
  const text = `its log has ${Math.round(size / 1024 ** 2)} MiB: another program reads in the file all the time; nothing else may open it`;
  return [{ level: 'warning', about: path, text }];
}

function placement(path: string, about: string): readonly Finding[] {
  const unfit = unfitFileSystem(statfsSync(dirname(path)).type);
  if (unfit === undefined) return [];
  return [
    {
      level: 'error',
      about,
      text: `it is on ${unfit}, where the locks of one machine mean nothing to another`,
    },
  ];
}

function machine({ namespace }: Home): readonly Finding[] {
  const findings: Finding[] = [];
  if (bootId() === '')
    findings.push({
      level: 'warning',
      about: 'this machine',
      text: 'it does not name its boot: the file is written through at every step, and sessions of an earlier boot end with their TTL',
    });
  if (namespace === '')
    findings.push({
      level: 'warning',
      about: 'this machine',
      text: 'it does not tell which processes have ended: a crash costs the queue the TTL',
    });
  return findings;
}
