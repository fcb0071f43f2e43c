import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createMemoryServer, memory, type MemoryServer } from '@queuelock/memory';
import type { LockManager } from '@queuelock/weblocks';
import type { ContextNews, ContextOrder } from './context-process.ts';
import { locksOver, type Origin } from './origin.ts';
import type { StartContext } from './page.ts';
import { ScriptScope, type Context, type Locks } from './scope.ts';

/**
 * Returns a function that runs each web worker and each frame in a separate process with the script
 * `contextScript`. The process is killed by SIGKILL.
 */
export function processesAt(origin: Origin, contextScript: string): StartContext {
  return async (script, receive) => {
    const child = fork(contextScript, [JSON.stringify(origin), script], { serialization: 'advanced' });
    const context = new ProcessContext(child, receive);
    await context.ready;
    return context;
  };
}

type Order = ContextOrder extends infer O ? (O extends ContextOrder ? Omit<O, 'number'> : never) : never;

class ProcessContext implements Context {
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #responses = new Map<number, () => void>();
  #orders = 0;

  constructor(child: ChildProcess, onReceived: (data: unknown) => void) {
    this.#child = child;
    this.#exit = once(child, 'exit');
    this.ready = new Promise((resolve) => {
      child.on('message', (reported: ContextNews) => {
        if (reported.news === 'ready') resolve();
        else if (reported.news === 'posted') onReceived(reported.data);
        else this.#responses.get(reported.number)?.();
      });
    });
  }

  post(data: unknown): Promise<void> {
    return this.#order({ order: 'hear', data });
  }

  hold(name: string): Promise<void> {
    return this.#order({ order: 'hold', name });
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /**
   * Sends a command to the process of a worker or a frame. Resolves when the command is done, or the process
   * has ended.
   */
  async #order(order: Order): Promise<void> {
    const number = (this.#orders += 1);
    const done = new Promise<void>((resolve) => this.#responses.set(number, resolve));
    if (this.#child.connected) this.#child.send({ ...order, number });
    await Promise.race([done, this.#exit]);
  }
}

/**
 * Runs web workers and frames in this process, because a memory server can be used only in the process that
 * creates it. A worker or frame is killed by a cut of its connection.
 */
export class MemoryOrigin {
  readonly locks: LockManager;
  readonly #settings: Omit<Origin, 'url'>;
  readonly #server: MemoryServer = createMemoryServer();

  constructor(settings: Omit<Origin, 'url'>) {
    this.#settings = settings;
    this.locks = locksOver(memory({ server: this.#server }), settings);
  }

  readonly startContext: StartContext = async (script, onReceived) => {
    let isDead = false;
    const never = new Promise<never>(() => undefined);
    const backend = memory({
      server: this.#server,
      intercept: async (_call, proceed) => (isDead ? never : proceed()),
      deliver: (arrive) => {
        if (!isDead) arrive();
      },
    });
    let die!: () => void;
    const dead = new Promise<void>((resolve) => (die = resolve));
    const locks = locksOver(backend, this.#settings);
    // Lets a killed worker or frame receive no results of its requests, as if its process had ended.
    const mortal: Locks = {
      query: () => locks.query(),
      request: (...args: Parameters<Locks['request']>) =>
        locks.request(...args).catch((error: unknown) => {
          if (isDead) return never;
          throw error;
        }),
    };
    const scope = new ScriptScope(script, mortal, (data) => {
      if (!isDead) onReceived(data);
    });
    return {
      post: (data) => Promise.race([scope.hear(data), dead]),
      hold: (name) => Promise.race([scope.hold(name), dead]),
      kill() {
        isDead = true;
        die();
      },
    };
  };
}
