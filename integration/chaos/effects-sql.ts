import { DatabaseSync } from '@photostructure/sqlite';
import { fencedUpdate, isAccepted } from '@queuelock/fencing';
import type { EffectTarget } from './effect.ts';

// Longest wait in milliseconds for SQLite's lock on the file, which another process may hold. It is short,
// because the wait blocks the event loop.
const BUSY_WITHIN_MS = 100;
// Longest wait in milliseconds for SQLite's lock on the file, while the harness creates the table or
// registers a queue.
const BUSY_AT_FIRST_MS = 2_000;

/** A SQLite file with a row for each queue. `register` creates the row. */
export interface EffectTable {
  register(queue: string): void;
  close(): void;
}

export function createEffectTable(path: string): EffectTable {
  const database = new DatabaseSync(path, { timeout: BUSY_AT_FIRST_MS });
  // Lets a crash of the machine lose the data of the table, so that writes need not wait for the disk.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  database.exec(
    'CREATE TABLE effects (queue TEXT PRIMARY KEY, number INTEGER, fence INTEGER NOT NULL DEFAULT 0)',
  );
  const insert = database.prepare('INSERT INTO effects (queue) VALUES (?)');
  return { register: (queue) => void insert.run(queue), close: () => database.close() };
}

/**
 * Opens the SQLite file at `path` as a resource that workers write to while they hold a lock. It refuses a
 * write if the row of the queue already has a newer fencing token.
 */
export function sqlEffects(path: string): EffectTarget {
  const database = new DatabaseSync(path, { timeout: BUSY_WITHIN_MS });
  database.exec('PRAGMA synchronous = OFF');
  return {
    async send({ queue, token, number }) {
      const update = { table: 'effects', set: { number }, where: { queue }, hold: { token } };
      const { text, values } = fencedUpdate('sqlite', update);
      try {
        const result = database.prepare(text).run(...(values as (string | number)[]));
        return isAccepted(result) ? 'accepted' : 'refused';
      } catch (error) {
        if (/database is locked/.test(String(error))) return 'unknown';
        throw error;
      }
    },
    close: () => database.close(),
  };
}
