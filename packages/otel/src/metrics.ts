import type { Attributes, Counter, Histogram, Meter, UpDownCounter } from '@opentelemetry/api';
import type { AcquireMessage, HoldMessage } from '@queuelock/core';
import { outcomeOf, type Outcome } from './outcome.ts';

// Bounds of the buckets of the histograms, in seconds: from a hand-off in memory to a job of half an hour.
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

type Ends = Readonly<Record<Outcome | 'released' | 'lost', Counter>>;

/** The metrics of acquisitions and holds. Their only attribute is the class of the lock. */
export class Metrics {
  readonly #classOf: (name: string) => string;
  readonly #wait: Histogram;
  readonly #hold: Histogram;
  readonly #waiting: UpDownCounter;
  readonly #holding: UpDownCounter;
  readonly #handovers: Counter;
  readonly #ends: Ends;
  /**
   * The acquisitions that have begun and not ended. The metric of waiting acquisitions has counted each of
   * them.
   */
  readonly #acquires = new Set<AcquireMessage>();
  readonly #holds = new Set<HoldMessage>();

  constructor(meter: Meter, classOf: (name: string) => string) {
    const duration = (name: string, description: string): Histogram =>
      meter.createHistogram(name, {
        description,
        unit: 's',
        advice: { explicitBucketBoundaries: SECONDS },
      });
    const acquired = (outcome: Outcome, description: string): Counter =>
      meter.createCounter(`queuelock.acquire.${outcome}`, { description, unit: '{acquisition}' });
    this.#classOf = classOf;
    this.#wait = duration('queuelock.wait.duration', 'Time from the request for a lock to its grant.');
    this.#hold = duration('queuelock.hold.duration', 'Time from the grant of a lock to its release or loss.');
    this.#waiting = meter.createUpDownCounter('queuelock.waiting', {
      description: 'Unfinished acquisitions.',
      unit: '{acquisition}',
    });
    this.#holding = meter.createUpDownCounter('queuelock.holding', {
      description: 'Locks that are held.',
      unit: '{hold}',
    });
    this.#handovers = meter.createCounter('queuelock.handovers', {
      description: 'Grants to clients that had waited.',
      unit: '{handover}',
    });
    this.#ends = {
      held: acquired('held', 'Acquisitions that were granted.'),
      busy: acquired('busy', 'Tries that found the lock held.'),
      timeout: acquired('timeout', 'Waits that were not granted in time.'),
      aborted: acquired('aborted', 'Acquisitions that their callers aborted.'),
      failed: acquired('failed', 'Acquisitions that failed for another reason, including outages.'),
      released: meter.createCounter('queuelock.hold.released', {
        description: 'Holds released by their owners.',
        unit: '{hold}',
      }),
      lost: meter.createCounter('queuelock.hold.lost', {
        description: 'Holds that were lost.',
        unit: '{hold}',
      }),
    };
  }

  acquiring(message: AcquireMessage): void {
    this.#acquires.add(message);
    this.#waiting.add(1, this.#labels(message));
  }

  acquired(message: AcquireMessage): void {
    if (!this.#acquires.delete(message)) return;
    const labels = this.#labels(message);
    const outcome = outcomeOf(message);
    this.#waiting.add(-1, labels);
    this.#ends[outcome].add(1, labels);
    if (outcome !== 'held') return;
    this.#wait.record((message.waitMs ?? 0) / 1_000, labels);
    if (message.waited) this.#handovers.add(1, labels);
  }

  holding(message: HoldMessage): void {
    this.#holds.add(message);
    this.#holding.add(1, this.#labels(message));
  }

  held(message: HoldMessage): void {
    if (!this.#holds.delete(message)) return;
    const labels = this.#labels(message);
    this.#holding.add(-1, labels);
    this.#ends[message.outcome ?? 'released'].add(1, labels);
    this.#hold.record((message.heldMs ?? 0) / 1_000, labels);
  }

  /**
   * Subtracts all unfinished acquisitions and holds from the metrics of present waits and holds. After this
   * call their ends are no longer recorded.
   */
  close(): void {
    for (const message of this.#acquires) this.#waiting.add(-1, this.#labels(message));
    for (const message of this.#holds) this.#holding.add(-1, this.#labels(message));
    this.#acquires.clear();
    this.#holds.clear();
  }

  #labels({ name }: Pick<AcquireMessage, 'name'>): Attributes {
    return { 'queuelock.class': this.#classOf(name) };
  }
}
