import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../config/child-environment.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { withoutStrays } from './descriptors.ts';
import type { Orders } from './orders.ts';

/** Starts the watchdog process and sends it orders; see `watchdog-process.ts`. */
export class Watchdog {
  readonly #process: ChildProcess;
  readonly #ready: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#process = child;
    // Ignores a closed pipe, because the event `exit` reports the end of the watchdog.
    child.stdin?.on('error', () => undefined);
    const output = child.stdout ? once(child.stdout, 'data') : Promise.reject(new Error('it has no output'));
    const ended = once(child, 'exit').then(() => Promise.reject(new Error('it ended at once')));
    this.#ready = Promise.race([output, ended]);
    this.#ready.catch(() => undefined);
    output.catch(() => undefined);
    ended.catch(() => undefined);
  }

  /**
   * Starts the watchdog in an operating system session of its own, so that it does not receive signals for
   * this process's group.
   */
  static start(): Watchdog {
    // The script of the watchdog is in the directory of this file, also in a bundle.
    const beside = new URL(`./watchdog-process${extname(import.meta.url)}`, import.meta.url);
    const script = fileURLToPath(beside);
    const child = withoutStrays((rest) =>
      spawn(process.execPath, [...process.execArgv, script], {
        stdio: ['pipe', 'pipe', 'inherit', ...rest],
        detached: true,
        env: childEnvironment(),
      }),
    );
    return new Watchdog(child);
  }

  /**
   * Resolves when the watchdog is ready for orders.
   * @throws {Failure} when the watchdog does not start
   */
  async ready(): Promise<void> {
    try {
      await this.#ready;
    } catch (cause) {
      throw new Failure('cannot start the watchdog, which every command needs', {
        exitCode: EXIT.failure,
        cause,
      });
    }
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /**
   * Replaces the watchdog's orders. They are written to its pipe before this process handles any other event.
   * `undefined` means that there is no command to end.
   */
  order(orders: Orders | undefined): void {
    if (!this.hasEnded) this.#process.stdin?.write(`${JSON.stringify(orders ?? {})}\n`);
  }

  /** Cancels the orders and ends the watchdog process. */
  close(): void {
    this.order(undefined);
    this.#process.stdin?.end();
    this.#process.unref();
  }
}
