import type { Backend, EntrySpec, Placement, Session } from '@queuelock/core/backend';
import { stampNow, type EventInput } from '@queuelock/harness/check/worker-record';

type PositionListener = (queue: string, place: Placement) => void;

/** The key of an entry in the store, and the session that owns it. */
interface StoredEntry {
  readonly key: string;
  readonly session: string;
}

/** Records events of a worker's heartbeats, as a `Recorder` does. */
interface HeartbeatRecorder {
  tell(input: EventInput): unknown;
}

/**
 * Lets a test stop the heartbeats of a worker, and records the keys of its entries and what each heartbeat
 * proved.
 */
export class Heartbeats {
  /** Whether the worker's heartbeats are sent. If not, each heartbeat fails at once. */
  sent = true;
  readonly #recorder: HeartbeatRecorder;
  readonly #stored = new Map<string, StoredEntry>();
  readonly #hearers = new Map<string, PositionListener>();

  constructor(recorder: HeartbeatRecorder) {
    this.#recorder = recorder;
  }

  /**
   * Returns the key and the session of an entry, by its order number in the queue. Both were recorded at the
   * enqueue, because reading the key from the claim has side effects. Both are empty before the entry is in
   * the queue.
   */
  stored(queue: string, order: bigint | undefined): StoredEntry {
    return this.#stored.get(`${queue} ${order}`) ?? { key: '', session: '' };
  }

  /**
   * Calls the listener for each entry of this owner that is enqueued from now on, with its order number,
   * token and key from the server's response. The returned function removes the listener. For a candidate of
   * an election, `label` is its published value.
   */
  hear(label: string, listener: PositionListener): () => void {
    this.#hearers.set(label, listener);
    return () => void this.#hearers.delete(label);
  }

  /** Returns the backend with sessions that record what each of their heartbeats proved. */
  around(backend: Backend): Backend {
    return passingOn(backend, {
      open: (ttlMs, signal) => this.#opened(() => backend.open(ttlMs, signal)),
      ...(backend.resume && {
        resume: (resumption, signal) => this.#opened(() => backend.resume!(resumption, signal)),
      }),
    });
  }

  async #opened(open: () => Promise<Session>): Promise<Session> {
    const sentAt = stampNow();
    const session = await open();
    this.#recorder.tell({ ev: 'beat', session: session.id, sentAt, provenMs: session.ttlMs });
    return this.#session(session);
  }

  #session(session: Session): Session {
    return passingOn(session, {
      renew: async (signal, earlierMs) => {
        if (!this.sent) throw new Error('the harness holds heartbeats back');
        const sentAt = stampNow();
        const provenMs = await session.renew(signal, earlierMs);
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

/** Returns a proxy of the object that calls the methods in `instead` in place of the object's own. */
export function passingOn<T extends object>(original: T, instead: Partial<T>): T {
  return new Proxy(original, {
    get(target, name): unknown {
      if (Object.hasOwn(instead, name)) return instead[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
