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

/** A process that works under a lock until it loses it: timers, immediates, promises and a socket call it all the time. */
export class WorkerProcess extends ScriptProcess<WorkEvent> {
  readonly #ttlMs: number;

  constructor({ url, name, id, ttlMs }: WorkerOptions) {
    super(scriptOf(SCRIPT), [url, name, id, String(ttlMs), String(MARGIN_MS)]);
    this.#ttlMs = ttlMs;
  }

  /** Answers when it has acted so many more times, or that it lost the lock before. */
  async acts(times: number): Promise<boolean> {
    let left = times + this.events.filter(({ ev }) => ev === 'acted').length;
    const { ev } = await this.until(({ ev }) => ev === 'lost' || (ev === 'acted' && (left -= 1) === 0));
    return ev === 'acted';
  }

  /** Until when its hold is proven, as a stamp, as far as it has said. */
  get provenUntil(): string {
    const { t, remainingMs } = this.events.findLast((event) => (event.remainingMs ?? 0) > 0)!;
    return later(t, remainingMs!);
  }

  /** The earliest moment at which the server may free its entry: a TTL after the heartbeat that was proven last. */
  get freeAt(): string {
    // The other way round from what the core keeps back of the TTL: its margin and 1 % for clocks that run differently.
    return later(this.provenUntil, MARGIN_MS + this.#ttlMs * 0.01);
  }

  /** Sends to its socket again and again until the answer is called. */
  async poke(): Promise<() => void> {
    const { port } = await this.untilEvent('listening');
    const socket: Socket = connect(port!, '127.0.0.1');
    await once(socket, 'connect');
    // It may be killed.
    socket.on('error', () => undefined);
    const timer = setInterval(() => socket.write('.'), POKE_EVERY_MS);
    return () => {
      clearInterval(timer);
      socket.destroy();
    };
  }
}
