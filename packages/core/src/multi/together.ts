import { invalidArgument } from '../api/errors.ts';
import type { EntrySpec, Placement, Session, EnqueueAllOptions } from '../api/spi.ts';

interface Joining {
  readonly spec: EntrySpec;
  readonly resolve: (placement: Placement) => void;
  readonly reject: (error: unknown) => void;
}

/** Collects the calls of `enqueue` by the claims of a multi-lock. When all claims have called it, sends one request for all queues. */
export class Together {
  readonly #count: number;
  readonly #option: EnqueueAllOptions;
  readonly #joining = new Map<Session, Joining[]>();

  constructor(count: number, option: EnqueueAllOptions) {
    this.#count = count;
    this.#option = option;
  }

  /**
   * Joins one queue. The request is sent when all claims have called this function. If `stop` aborts before the request is sent, this call rejects at
   * once.
   */
  enqueue(session: Session, spec: EntrySpec, stop: AbortSignal): Promise<Placement> {
    let giveUp!: () => void;
    const placed = new Promise<Placement>((resolve, reject) => {
      // Calls are collected for each session, because a claim whose session has ended tries again with a new
      // session.
      const joining = this.#joining.get(session) ?? [];
      this.#joining.set(session, joining);
      giveUp = () => {
        if (this.#joining.get(session) === joining) reject(stop.reason as Error);
      };
      stop.addEventListener('abort', giveUp);
      joining.push({ spec, resolve, reject });
      if (joining.length < this.#count) return;
      this.#joining.delete(session);
      void enqueueAll(session, joining, this.#option);
    });
    return placed.finally(() => {
      stop.removeEventListener('abort', giveUp);
    });
  }
}

async function enqueueAll(
  session: Session,
  joining: readonly Joining[],
  option: EnqueueAllOptions,
): Promise<void> {
  try {
    if (!session.enqueueAll)
      throw invalidArgument(
        'names',
        joining.length,
        'is 1 on this backend, which enters one queue at a time',
      );
    const specs = joining.map(({ spec }) => spec);
    const placements = await session.enqueueAll(specs, option);
    joining.forEach(({ resolve, reject }, at) => {
      const placement = placements[at];
      if (placement) resolve(placement);
      else reject(new TypeError('the backend returned fewer placements than entries'));
    });
  } catch (error) {
    for (const { reject } of joining) reject(error);
  }
}
