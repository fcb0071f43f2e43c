import { setTimeout as pause } from 'node:timers/promises';
import { livedSince } from '../lived-time.ts';

export interface Patience {
  /** What is awaited, for the error: `etcd answers on 127.0.0.1:2379`. */
  readonly what: string;
  /** Milliseconds until it counts as failed, without those in which the machine stood still. */
  readonly withinMs: number;
  /** Gives up at once when it answers with a reason. */
  readonly hopeless?: () => string | undefined | Promise<string | undefined>;
}

/** Asks again every 20 ms until the question has an answer. Rejects with the last refusal when the time is over. */
export async function until<T>(ask: () => Promise<T>, { what, withinMs, hopeless }: Patience): Promise<T> {
  const from = performance.now();
  for (;;) {
    const reason = await hopeless?.();
    if (reason !== undefined) throw new Error(`${what}: ${reason}`);
    try {
      return await ask();
    } catch (refusal) {
      if (livedSince(from) > withinMs)
        throw new Error(`${what}: not within ${withinMs} ms`, { cause: refusal });
    }
    await pause(20);
  }
}
