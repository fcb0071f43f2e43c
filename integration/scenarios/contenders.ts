import type { ContendEvent } from '@queuelock/cli/src/contend/event.ts';
import { command } from '@queuelock/cli/test/command.ts';
import { ScriptProcess } from '@queuelock/harness/services/script-process';

export interface ContendOptions {
  readonly url: string;
  readonly name: string;
  readonly id: string;
  readonly rounds?: number;
  readonly holdMs?: number;
  /** TTL of the contender's entries in milliseconds. Default: the default of `queuelock contend`, 10,000. */
  readonly ttlMs?: number;
}

/** A process of `queuelock contend --json`. */
export type ContenderProcess = ScriptProcess<ContendEvent>;

/**
 * Starts `queuelock contend --json`: a process that joins the queue `rounds` times and prints its history.
 */
export function startContender(options: ContendOptions): ContenderProcess {
  const { url, name, id, rounds = 1, holdMs = 0, ttlMs } = options;
  const pace = ['--count', String(rounds), '--hold', String(holdMs)];
  const ttl = ttlMs === undefined ? [] : ['--ttl', String(ttlMs / 1_000)];
  const args = ['contend', name, '--backend', url, '--json', '--id', id, ...pace, ...ttl];
  return new ScriptProcess(command, args);
}
