import { command } from '@queuelock/cli/test/command.ts';
import { ScriptProcess } from '@queuelock/harness/services/script-process';

/** What the program under the lock prints. */
export interface Sign {
  /** `start`: its first instruction; `alive`: each 20 ms. */
  readonly ev: 'start' | 'alive';
  /** The day's time in seconds, to the microsecond. */
  readonly at: number;
  /** With `start`: the program that ran before it, by its id, and its state (proc(5)); `none` when there is no such process any more. */
  readonly before?: string;
  readonly state?: string;
}

export type Runner = ScriptProcess<Sign>;

export interface RunnerOptions {
  readonly url: string;
  readonly name: string;
  readonly ttlMs: number;
  /** Where the programs leave their ids. */
  readonly file: string;
}

/**
 * The program looks first of all whether the one before it is still there, then goes on for ever, whatever it is told. Nothing but the shell
 * itself, so that it begins at once.
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

/** `queuelock run --keep` of a program that never ends by itself: it stands in line, holds, loses, and stands in line again. */
export function startRunner({ url, name, ttlMs, file }: RunnerOptions): Runner {
  const options = ['--backend', url, '--ttl', String(ttlMs / 1_000), '--grace', '200', '--keep'];
  const program = ['env', 'LC_ALL=C', `FILE=${file}`, 'bash', '-c', PROGRAM];
  const args = ['run', name, ...options, '--', ...program];
  return new ScriptProcess<Sign>(command, args);
}
