import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../config/child-environment.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { withoutStrays } from './descriptors.ts';
import type { Orders } from './orders.ts';

/** The other process that ends commands, this side of it; see `watchdog-process.ts`. */
export class Watchdog {
  readonly #process: ChildProcess;
  readonly #ready: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#process = child;
    // A pipe without a reader: the watchdog is gone, which is seen by its exit.
    child.stdin?.on('error', () => undefined);
    const said = child.stdout ? once(child.stdout, 'data') : Promise.reject(new Error('it has no output'));
    const ended = once(child, 'exit').then(() => Promise.reject(new Error('it ended at once')));
    this.#ready = Promise.race([said, ended]);
    this.#ready.catch(() => undefined);
    said.catch(() => undefined);
    ended.catch(() => undefined);
  }

  /** In a session of its own, so that what is sent to this process's group does not reach it. */
  static start(): Watchdog {
    // Beside this file, also where several files were made one.
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

  /** @throws {Failure} when it does not come up */
  async ready(): Promise<void> {
    try {
      await this.#ready;
    } catch (cause) {
      throw new Failure('cannot start the watchdog, without which no command is run', {
        exitCode: EXIT.failure,
        cause,
      });
    }
  }

  get gone(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Replaces the orders that it has; written in the same turn. `undefined`: there is nothing to watch. */
  order(orders: Orders | undefined): void {
    if (!this.gone) this.#process.stdin?.write(`${JSON.stringify(orders ?? {})}\n`);
  }

  /** Lets it go. */
  close(): void {
    this.order(undefined);
    this.#process.stdin?.end();
    this.#process.unref();
  }
}
