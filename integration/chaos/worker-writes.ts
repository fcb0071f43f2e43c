import type { Effects } from './effects.ts';
import type { Resource } from '@queuelock/harness/check/event';
import type { AttemptReport } from './worker-attempt-report.ts';
import type { Held, Spot } from './worker-claims.ts';
import { stampNow } from '@queuelock/harness/check/worker-record';

interface Writing {
  readonly held: Held;
  /** Names of the hold's queues, in the same order as the hold's entries. */
  readonly queues: readonly string[];
  readonly effects: Effects;
}

/**
 * The writes that a worker makes to all resources under one hold. Each write names one of the hold's queues,
 * and has the token of the hold in that queue.
 */
export class Writes {
  readonly #writing: Writing;
  readonly #tell: (at: number, report: AttemptReport) => void;
  /**
   * Keys of the hold's entries. They are empty unless the worker writes to the resource in the store itself,
   * which needs them: reading the key of a claim has side effects.
   */
  readonly #keys: readonly string[];
  #count = 0;

  /**
   * Creates the writer of one hold.
   * @param tell called when the response to a write has arrived, with the event to record and the index of
   *   the write's queue among the queues of the hold
   */
  constructor(writing: Writing, tell: (at: number, reported: AttemptReport) => void) {
    this.#writing = writing;
    this.#tell = tell;
    const { held, effects } = writing;
    this.#keys = effects.resources.includes('store') ? held.spots.map(({ key }) => key) : [];
  }

  /**
   * Writes once to each resource of the worker. Does nothing when the lock is not held, unless `evenIfLost`
   * is set.
   */
  async write({ evenIfLost = false }: { readonly evenIfLost?: boolean } = {}): Promise<void> {
    const { held, effects } = this.#writing;
    const each = held.spots.flatMap((spot, at) =>
      effects.resources.map((resource) => ({ spot, at, resource })),
    );
    await Promise.all(each.map((target) => this.#writeOne(target, evenIfLost)));
  }

  async #writeOne({ spot, at, resource }: Target, evenIfLost: boolean): Promise<void> {
    const { held, queues, effects } = this.#writing;
    const t = stampNow();
    const believed = held.hold.held;
    if (!believed && !evenIfLost) return;
    const { token } = spot;
    const key = this.#keys[at] ?? '';
    const number = (this.#count += 1);
    const outcome = await effects.send(resource, { queue: queues[at]!, key, token, number, believed });
    const answeredAt = stampNow();
    const written = { resource, token: token.toString(), number, believed, outcome, answeredAt } as const;
    this.#tell(at, { ev: 'effect', t, ...written });
  }
}

interface Target {
  readonly spot: Spot;
  readonly at: number;
  readonly resource: Resource;
}
