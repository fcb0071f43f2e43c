import type { HarnessEvent, LifeEvent } from './event.ts';
import { Life, MS } from './run.ts';
import { SessionProof } from './session-proof.ts';

const CLOCK_RATE_ERROR = 0.01;

type AboutWorker = Extract<HarnessEvent, { readonly worker: string }>;

interface Surroundings {
  /** Converts a stamp to nanoseconds since the beginning of the run. */
  moment(stamp: string): number;
  odd(at: number, message: string): void;
}

/** Collects the processes of the workers. Each event `started` begins a new process of that worker. */
export class LifeBook {
  readonly #lives: Life[] = [];
  readonly #newest = new Map<string, Life>();
  readonly #aboutWorkers: AboutWorker[] = [];
  readonly #around: Surroundings;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  take(event: LifeEvent, at: number): void {
    if (event.ev === 'started') {
      this.#begin(event.who, { started: at, safetyMarginMs: event.safetyMarginMs });
      return;
    }
    const life = this.of(event.who, at);
    switch (event.ev) {
      case 'beat':
        this.#takeBeat(life, event, at);
        break;
      case 'stalled':
        life.stalled.push({ from: at, to: at + event.ms * MS });
        break;
      case 'session-lost':
        life.sessionLost.push(at);
        break;
      case 'memory':
        life.memory.push({ heapBytes: event.heapBytes, cycles: event.cycles });
        break;
      case 'closed':
        life.closed = { at, loopDelayMs: event.loopDelayMs };
        break;
      case 'crashed':
        life.crashed ??= { at, message: event.message };
    }
  }

  /**
   * Keeps an event of the harness until all processes are known. `finish` then assigns it to the process that
   * it concerns.
   */
  hear(event: AboutWorker): void {
    this.#aboutWorkers.push(event);
  }

  /**
   * Returns the newest process of the worker `who`. If no start of the worker is recorded, reports that and
   * adds a process.
   */
  of(who: string, at: number): Life {
    const known = this.#newest.get(who);
    if (known) return known;
    this.#around.odd(at, `${who} never said that it started`);
    return this.#begin(who, {});
  }

  finish(): readonly Life[] {
    for (const life of this.#lives) for (const proof of life.proofs.values()) proof.settle();
    for (const event of this.#aboutWorkers) this.#tell(event);
    return this.#lives;
  }

  #begin(who: string, { started, safetyMarginMs = 0 }: { started?: number; safetyMarginMs?: number }): Life {
    const life = new Life(who);
    life.started = started;
    life.safetyMarginMs = safetyMarginMs;
    this.#lives.push(life);
    this.#newest.set(who, life);
    return life;
  }

  #takeBeat(life: Life, beat: Extract<LifeEvent, { ev: 'beat' }>, at: number): void {
    let proof = life.proofs.get(beat.session);
    if (!proof) life.proofs.set(beat.session, (proof = new SessionProof()));
    const believedMs = beat.provenMs * (1 - CLOCK_RATE_ERROR) - life.safetyMarginMs;
    proof.add(at, this.#around.moment(beat.sentAt) + believedMs * MS);
  }

  #tell(event: AboutWorker): void {
    const at = this.#around.moment(event.t);
    const life = this.#lives.findLast(
      ({ who, started }) => who === event.worker && (started ?? -Infinity) <= at,
    );
    if (life) recordLife(life, event, at);
    // An event may concern a process that never started: it may have been killed before it could record its
    // start.
    else if (event.ev !== 'killed' && event.ev !== 'exited')
      this.#around.odd(at, `the harness says "${event.ev}" of ${event.worker}, which never started`);
  }
}

function recordLife(life: Life, event: AboutWorker, at: number): void {
  const standstill = life.frozen.at(-1);
  switch (event.ev) {
    case 'killed':
      life.killed ??= at;
      break;
    case 'exited':
      life.exited = { at, clean: event.clean, tookMs: event.tookMs };
      break;
    case 'frozen':
      life.frozen.push({ from: at, to: Infinity });
      break;
    case 'thawed':
      if (standstill) life.frozen.splice(-1, 1, { from: standstill.from, to: at });
  }
}
