import { DatabaseSync } from '@photostructure/sqlite';
import { fencedUpdate, isAccepted } from '@queuelock/fencing';
import type { EffectTarget } from './effect.ts';

// The wait for another process's lock blocks the event loop, so it is short.
const BUSY_WITHIN_MS = 100;
// Before the faults, while other processes write.
const BUSY_AT_FIRST_MS = 2_000;

/** A SQLite file with a row per queue; `register` creates it. */
export interface EffectTable {
  register(queue: string): void;
  close(): void;
}

export function createEffectTable(path: string): EffectTable {
  const database = new DatabaseSync(path, { timeout: BUSY_AT_FIRST_MS });
  // Data that a crash of the machine would lose is not needed.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  database.exec(
    'CREATE TABLE effects (queue TEXT PRIMARY KEY, number INTEGER, fence INTEGER NOT NULL DEFAULT 0)',
  );
  const insert = database.prepare('INSERT INTO effects (queue) VALUES (?)');
  return { register: (queue) => void insert.run(queue), close: () => database.close() };
}

/** Writes the rows of that file, fenced. */
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
