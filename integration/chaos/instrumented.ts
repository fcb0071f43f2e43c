import type { Backend, EntrySpec, Placement, Session } from '@queuelock/core/backend';
import { stampNow, type Recorder } from '@queuelock/harness/check/worker-record';

type PlaceHearer = (queue: string, place: Placement) => void;

/** An entry as the store has it, and the session that it belongs to. */
interface StoredEntry {
  readonly key: string;
  readonly session: string;
}

/** What the harness does to heartbeats, and what it has to know of sessions. */
export class Heartbeats {
  /** When false, they are not sent: each one fails at once. */
  sent = true;
  readonly #recorder: Recorder;
  readonly #stored = new Map<string, StoredEntry>();
  readonly #hearers = new Map<string, PlaceHearer>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  /** The entry of that order, without the effect that reading the key of a claim has; empty before it stood in the queue. */
  stored(queue: string, order: bigint | undefined): StoredEntry {
    return this.#stored.get(`${queue} ${order}`) ?? { key: '', session: '' };
  }

  /** Tells where entries with this label (their owner, or all that they store) stand, as the server answers; until the answer is called. */
  hear(label: string, hearer: PlaceHearer): () => void {
    this.#hearers.set(label, hearer);
    return () => void this.#hearers.delete(label);
  }

  /** The same backend, whose sessions write down what each of their heartbeats proved. */
  around(backend: Backend): Backend {
    return passingOn(backend, {
      open: async (ttlMs, signal) => {
        const sentAt = stampNow();
        const session = await backend.open(ttlMs, signal);
        this.#recorder.tell({ ev: 'beat', session: session.id, sentAt, provenMs: session.ttlMs });
        return this.#session(session);
      },
    });
  }

  #session(session: Session): Session {
    return passingOn(session, {
      renew: async (signal) => {
        if (!this.sent) throw new Error('the harness holds heartbeats back');
        const sentAt = stampNow();
        const provenMs = await session.renew(signal);
        this.#recorder.tell({ ev: 'beat', session: session.id, sentAt, provenMs });
        return provenMs;
      },
      enqueue: async (spec) => {
        const placement = await session.enqueue(spec);
        this.#note(session, spec, placement);
        return placement;
      },
      enqueueAll: async (specs) => {
        const placements = await session.enqueueAll!(specs);
        placements.forEach((placement, at) => this.#note(session, specs[at]!, placement));
        return placements;
      },
    });
  }

  #note({ id }: Session, { queue, value = '' }: EntrySpec, placement: Placement): void {
    this.#stored.set(`${queue} ${placement.order}`, { key: placement.key, session: id });
    this.#hearers.get(labelIn(value))?.(queue, placement);
  }
}

function labelIn(value: string): string {
  return value.startsWith('{') ? String((JSON.parse(value) as { owner?: unknown }).owner) : value;
}

/** The same object, but for these methods. */
export function passingOn<T extends object>(original: T, instead: Partial<T>): T {
  return new Proxy(original, {
    get(target, name): unknown {
      if (Object.hasOwn(instead, name)) return instead[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
