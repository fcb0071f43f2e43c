import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { freeze, thaw } from '../faults.ts';
import { EventLog } from './event-log.ts';
import type { Script } from './script.ts';

/** The end of a process: its exit code or signal, and its output to stderr. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

const running = new Set<ScriptProcess>();

/** Ends all processes that a test left running, even frozen processes. For use in `afterEach`. */
export async function endScripts(): Promise<void> {
  await Promise.all([...running].map((script) => script.kill()));
}

/**
 * A script of this repository that runs as a separate process and prints one JSON object per line. The IPC
 * channel to the script closes when this process dies, so that the script can end too.
 */
export class ScriptProcess<E extends { readonly ev: string } = { readonly ev: string }> {
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;
  readonly #log = new EventLog<E>();
  #stderr = '';

  constructor({ script, execArgv }: Script, args: readonly string[]) {
    this.#child = fork(script, args, { silent: true, execArgv: [...execArgv] });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    createInterface(this.#child.stdout!).on('line', (line) => {
      this.#log.add(JSON.parse(line) as E);
    });
    running.add(this);
    this.ended = this.#end();
  }

  /** Events that the script has printed so far. */
  get events(): readonly E[] {
    return this.#log.events;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /**
   * Resolves with the first event that matches, whether already printed or printed later. Rejects when the
   * process ends without such an event.
   */
  async until(matches: (event: E) => boolean): Promise<E> {
    const without = this.ended.then(({ code, signal, stderr }) => {
      throw new Error(`it ended before that (${String(signal ?? code)}): ${stderr}`);
    });
    return this.#log.first(matches, without);
  }

  /** Resolves with the first event of the kind `ev` that the script prints. */
  untilEvent(ev: E['ev']): Promise<E> {
    return this.until((event) => event.ev === ev);
  }

  tell(message: object): void {
    this.#child.send(message);
  }

  /** Sends SIGTERM to the script's process; resolves when the process has ended. */
  async stop(): Promise<Ending> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }

  /** Sends SIGKILL to the script's process; resolves when the process has ended. */
  async kill(): Promise<Ending> {
    this.#child.kill('SIGKILL');
    return this.ended;
  }

  async freeze(): Promise<void> {
    await freeze(this.pid);
  }

  async thaw(): Promise<void> {
    await thaw(this.pid);
  }

  async #end(): Promise<Ending> {
    const [code, signal] = (await once(this.#child, 'close')) as [number | null, NodeJS.Signals | null];
    running.delete(this);
    return { code, signal, stderr: this.#stderr };
  }
}
