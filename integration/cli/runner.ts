import { command } from '@queuelock/cli/test/command.ts';
import { ScriptProcess } from '@queuelock/harness/services/script-process';

/** A line that a command prints while `queuelock run` holds the lock for it. */
export interface Sign {
  /** The program under the lock prints `start` first, and then `alive` every 20 ms. */
  readonly ev: 'start' | 'alive';
  /** Time of day at which the line was printed, in seconds, to the microsecond. */
  readonly at: number;
  /**
   * In a line `start`: id of the process that ran under the lock before, and its state (proc(5)). The state
   * is `none` if that process does not exist any more.
   */
  readonly before?: string;
  readonly state?: string;
}

export type Runner = ScriptProcess<Sign>;

export interface RunnerOptions {
  readonly url: string;
  readonly name: string;
  readonly ttlMs: number;
  /**
   * File in which each program writes its process id, so that the next one can check whether the process
   * still exists.
   */
  readonly file: string;
}

/**
 * The program that runs under the lock. It first checks whether the process that ran before it still exists.
 * Then it continues forever, ignoring signals. It is a shell script, so that it starts at once.
 */
const PROGRAM = `
state=none
read -r before < "$FILE"
if [[ -n $before ]] && read -r _ _ state _ < "/proc/$before/stat"; then :; fi 2>/dev/null
printf '{"ev":"start","at":%s,"before":"%s","state":"%s"}\\n' "$EPOCHREALTIME" "$before" "$state"
echo $$ > "$FILE"
trap '' TERM
exec {never}<> <(:)
while :; do read -r -t 0.02 -u $never; printf '{"ev":"alive","at":%s}\\n' "$EPOCHREALTIME"; done`;

/**
 * Runs `queuelock run --keep` with a program that never ends by itself. The runner waits, holds, loses the
 * lock, and waits again.
 */
export function startRunner({ url, name, ttlMs, file }: RunnerOptions): Runner {
  const options = ['--backend', url, '--ttl', String(ttlMs / 1_000), '--grace', '200', '--keep'];
  const program = ['env', 'LC_ALL=C', `FILE=${file}`, 'bash', '-c', PROGRAM];
  const args = ['run', name, ...options, '--', ...program];
  return new ScriptProcess<Sign>(command, args);
}
