import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { livedSince } from '@queuelock/harness/lived-time';
import { command } from './command.ts';

/**
 * Environment for the command `queuelock` in tests. These variables of the process that runs the tests must not
 * select the store of the command.
 */
export const UNSET = {
  QUEUELOCK_URL: '',
  QUEUELOCK_PROFILE: '',
  QUEUELOCK_CONFIG: '',
  QUEUELOCK_USER: '',
  QUEUELOCK_PASSWORD: '',
  QUEUELOCK_PASSWORD_FILE: '',
  XDG_CONFIG_HOME: '/dev/null',
};

/** Exit code and output of a command that has ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Duration of the command from its start to its end, in milliseconds. */
  readonly tookMs: number;
}

/** The command `queuelock` as a real process. */
export class Cli {
  readonly child: ChildProcess;
  readonly ending: Promise<Ending>;
  #stdout = '';
  #stderr = '';
  readonly #startedAt = performance.now();

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [...command.execArgv, command.script, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...UNSET, ...env },
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.ending = this.#end();
  }

  get stdout(): string {
    return this.#stdout;
  }

  /** The lines that the command has printed completely so far, parsed from JSON. */
  get events(): Line[] {
    return parseLines(this.#stdout);
  }

  /**
   * Resolves with the printed event `ev` of the contender's round `n`. Rejects if the process ends before it
   * prints the event.
   */
  async until(ev: string, n = 1): Promise<Line> {
    for (;;) {
      const event = this.events.find((line) => line.ev === ev && line.n === n);
      if (event) return event;
      if (this.child.exitCode !== null)
        throw new Error(`ended without "${ev}": ${this.#stdout}${this.#stderr}`);
      await Promise.race([once(this.child.stdout!, 'data'), this.ending]);
    }
  }

  async #end(): Promise<Ending> {
    const [code, signal] = (await once(this.child, 'close')) as [number | null, NodeJS.Signals | null];
    return {
      code,
      signal,
      stdout: this.#stdout,
      stderr: this.#stderr,
      tookMs: livedSince(this.#startedAt),
    };
  }
}

/** One printed line of a contender's history, with the properties that tests read. */
export interface Line {
  readonly t: string;
  readonly id: string;
  readonly ev: string;
  readonly name: string;
  readonly key?: string;
  readonly token?: string;
  readonly zxid?: string;
  readonly n: number;
  readonly t_done?: string;
  readonly reason?: string;
  readonly code?: string;
  readonly message?: string;
}

export function parseLines(text: string): Line[] {
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  return complete
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** Runs the command to its end. */
export function runCli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ending> {
  return new Cli(args, env).ending;
}
