import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { HistoryEvent } from '@queuelock/cli/src/demo/history.ts';
import { compileJava } from '../java.ts';

const run = promisify(execFile);
const SOURCES = fileURLToPath(new URL('.', import.meta.url));

/** A compiled Java program with contenders of Apache Curator, which can be run repeatedly. */
export interface Curator {
  /**
   * Starts `contenders` contenders in one process. Each requests the lock `rounds` times. Resolves with their
   * history when all requests were granted.
   */
  contend(options: CuratorOptions): Promise<HistoryEvent[]>;
  /** Removes the compiled files. */
  remove(): Promise<void>;
}

interface CuratorOptions {
  /** Address of the ZooKeeper server, `host:port`. */
  readonly endpoint: string;
  readonly name: string;
  readonly contenders: number;
  readonly rounds: number;
}

/**
 * Compiles the Java program with contenders of Apache Curator, and installs its dependencies if possible.
 * Rejects with `NotHere` otherwise.
 */
export async function compileCurator(): Promise<Curator> {
  const classes = await mkdtemp(join(tmpdir(), 'queuelock-curator-'));
  const [java, ...options] = (await compileJava(SOURCES, classes))('Contender');
  return {
    async contend({ endpoint, name, contenders, rounds }) {
      const args = [endpoint, `/${name}`, String(contenders), String(rounds)];
      const { stdout } = await run(java, [...options, ...args]);
      return stdout
        .trim()
        .split('\n')
        .flatMap((line) => eventsOf(name, JSON.parse(line) as Round));
    },
    remove: () => rm(classes, { recursive: true }),
  };
}

interface Round {
  readonly id: string;
  readonly n: number;
  readonly key: string;
  readonly zxid: string;
  readonly requesting: string;
  readonly acquired: string;
  readonly released: string;
}

function eventsOf(name: string, { id, n, key, zxid, requesting, acquired, released }: Round): HistoryEvent[] {
  const token = String(Number(key.slice(-10)));
  const entry = { id, name, key, token, n };
  return [
    { t: requesting, id, ev: 'requesting', name, n },
    // Curator does not report when it has joined the queue. It joined before the grant, so the time of the
    // grant is used for both events.
    { t: acquired, ev: 'enqueued', ...entry },
    { t: acquired, ev: 'acquired', ...entry, zxid },
    { t: released, ev: 'released', ...entry, zxid },
  ];
}
