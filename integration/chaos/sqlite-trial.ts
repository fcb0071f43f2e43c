import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { atTeardown } from '@queuelock/harness/services/shared';
import { until } from '@queuelock/harness/services/until';
import { DetourTrial, type DetourSettings } from './detour-trial.ts';
import { LONE_TIMING } from './profiles.ts';
import { SHORT_MS, strikeAll, type ServerFault, type StrikeOptions } from './traveller-faults.ts';

/**
 * Longest time in milliseconds until the file is free for a fault. A worker that is frozen in a step locks the
 * file until it is resumed.
 */
const FREE_WITHIN_MS = 20_000;

/** Starts a trial: workers that take locks in one SQLite file. */
export async function startSqliteTrial(settings: DetourSettings = {}): Promise<SqliteTrial> {
  const directory = mkdtempSync(join(tmpdir(), 'queuelock-sqlite-chaos-'));
  atTeardown(() => rm(directory, { recursive: true, force: true }));
  const trial = new SqliteTrial(join(directory, 'locks.db'), settings);
  await trial.begin();
  return trial;
}

/** A trial whose workers share one SQLite file. There are no servers, and so no proxies before them. */
export class SqliteTrial extends DetourTrial {
  readonly file: string;

  constructor(file: string, settings: DetourSettings) {
    const servers = { endpoints: [], thaw: async (): Promise<void> => undefined };
    super({ store: 'sqlite', servers, url: () => `sqlite:${file}`, timing: LONE_TIMING }, settings);
    this.file = file;
  }

  /** Makes the faults of the file and of the workers' processes in random order; see `strikeAll`. */
  async strikeAll(options?: StrikeOptions): Promise<void> {
    await strikeAll(this, faultsOf(this.file), options);
  }
}

/** Returns the version of the SQLite that workers load: that of Node, or else of the npm package. */
export function sqliteVersion(): string {
  const { sqlite } = process.versions as { readonly sqlite?: string };
  if (sqlite !== undefined) return sqlite;
  const database = new DatabaseSync(':memory:');
  const row = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  database.close();
  return row.version;
}

/** The faults of the file are those that an operator's tool may cause, such as a backup. */
function faultsOf(file: string): Readonly<Record<string, ServerFault>> {
  return {
    'file locked': () => during(file, 'BEGIN IMMEDIATE', SHORT_MS),
    'file locked for long': (longMs) => during(file, 'BEGIN IMMEDIATE', longMs),
    'file read for long': (longMs) => during(file, 'BEGIN; SELECT count(*) FROM sqlite_schema', longMs),
    'log truncated': () => during(file, 'PRAGMA wal_checkpoint(TRUNCATE)', 0),
  };
}

/** Executes the statements on a connection of its own, and closes it after `ms` milliseconds. */
async function during(file: string, statements: string, ms: number): Promise<void> {
  const database = await until(async () => connectionAfter(file, statements), {
    what: `"${statements}" on the file`,
    withinMs: FREE_WITHIN_MS,
  });
  try {
    await pause(ms);
  } finally {
    database.close();
  }
}

function connectionAfter(file: string, statements: string): InstanceType<typeof DatabaseSync> {
  // Does not let SQLite wait for the file, since that would block the event loop, which has to resume workers.
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec(statements);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
