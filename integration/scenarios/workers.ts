import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { later } from '@queuelock/cli/src/demo/stage.ts';
import { ScriptProcess } from '@queuelock/harness/services/script-process';
import { scriptOf } from '@queuelock/harness/services/script';
import type { WorkEvent } from './work-event.ts';

const SCRIPT = fileURLToPath(new URL('worker.ts', import.meta.url));
const MARGIN_MS = 200;
const POKE_EVERY_MS = 20;

export interface WorkerOptions {
  readonly url: string;
  readonly name: string;
  readonly id: string;
  readonly ttlMs: number;
}

/**
 * A process that works under a lock until it loses the lock. Timers, immediates, promises and a socket call
 * its work continuously.
 */
export class WorkerProcess extends ScriptProcess<WorkEvent> {
  readonly #ttlMs: number;

  constructor({ url, name, id, ttlMs }: WorkerOptions) {
    super(scriptOf(SCRIPT), [url, name, id, String(ttlMs), String(MARGIN_MS)]);
    this.#ttlMs = ttlMs;
  }

  /**
   * Resolves when the worker has performed `times` more actions. Resolves earlier if the worker loses the
   * lock.
   */
  async acts(times: number): Promise<boolean> {
    let left = times + this.events.filter(({ ev }) => ev === 'acted').length;
    const { ev } = await this.until(({ ev }) => ev === 'lost' || (ev === 'acted' && (left -= 1) === 0));
    return ev === 'acted';
  }

  /**
   * End of the proven time of the worker's hold, as a timestamp. It is computed from the worker's last
   * report.
   */
  get provenUntil(): string {
    const { t, remainingMs } = this.events.findLast((event) => (event.remainingMs ?? 0) > 0)!;
    return later(t, remainingMs!);
  }

  /**
   * Earliest moment at which the server may remove the worker's entry: a TTL after the start of the last
   * heartbeat that proved the session.
   */
  get freeAt(): string {
    // The server removes the entry later than the proven time ends. The core subtracts from the TTL the
    // safety margin, and 1 % for different clock rates.
    return later(this.provenUntil, MARGIN_MS + this.#ttlMs * 0.01);
  }

  /** Sends data to the worker's socket repeatedly until the returned function is called. */
  async poke(): Promise<() => void> {
    const { port } = await this.untilEvent('listening');
    const socket: Socket = connect(port!, '127.0.0.1');
    await once(socket, 'connect');
    // Ignores errors of the socket, since the test may kill the process.
    socket.on('error', () => undefined);
    const timer = setInterval(() => socket.write('.'), POKE_EVERY_MS);
    return () => {
      clearInterval(timer);
      socket.destroy();
    };
  }
}
