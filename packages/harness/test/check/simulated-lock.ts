import type { Terms } from '../../src/check/event.ts';
import { MARGIN_MS, PROVEN_MS, TTL_MS, HistoryBuilder, stamp } from '../../src/check/history-builder.ts';

/**
 * One action of the simulation, and the pause before it. `worker` and `queue` are numbers that select one of
 * the workers and queues that exist at that time.
 */
export interface Move {
  readonly what: What;
  readonly worker: number;
  readonly queue: number;
  readonly pauseMs: number;
}

type What = Join | 'release' | 'downgrade' | 'cancel' | 'kill' | 'freeze' | 'thaw' | 'write';

/**
 * Kinds of claims: exclusive or shared on one name, exclusive or shared on `q` and `r` together, or permits
 * of a semaphore.
 */
type Join = 'join' | 'read' | 'join both' | 'read both' | 'take permits';

interface Entry {
  readonly n: number;
  readonly queue: string;
  readonly token: number;
  readonly claim: Claim;
}

interface Claim {
  readonly worker: Worker;
  readonly entries: Entry[];
  readonly terms: Terms;
  granted: boolean;
  shared: boolean;
}

interface Worker {
  readonly name: string;
  state: 'runs' | 'frozen' | 'dead';
  attempts: number;
  session: string;
  /** The end of the proven time of the worker's session, by the worker's own clock. */
  deadline: number;
  /** The end of the lease of the worker's session, by the server's clock. */
  expiry: number;
  heartbeatAt: number;
}

const TICK_MS = 10;
const WORKERS = 4;
const QUEUES = ['q', 'r'];
const SEMAPHORE = 's';
const PERMITS = 3;

/**
 * Simulates a correct lock with its servers and workers, and records its history: sessions expire, tokens
 * grow, reads of `held` compare the deadline with the clock.
 */
export class SimulatedLock {
  readonly builder: HistoryBuilder = new HistoryBuilder();
  readonly #workers: Worker[] = [];
  #line: Entry[] = [];
  #now = 0;
  #tokens = 100;
  #sessions = 0;
  #writes = 0;

  constructor() {
    for (let i = 1; i <= WORKERS; i++) {
      const worker: Worker = {
        name: `w${i}`,
        state: 'runs',
        attempts: 0,
        session: '',
        deadline: 0,
        expiry: 0,
        heartbeatAt: 0,
      };
      this.#workers.push(worker);
      this.builder.tell(worker.name, 0, { ev: 'started', pid: i, ttlMs: TTL_MS, safetyMarginMs: MARGIN_MS });
      this.#open(worker);
    }
  }

  play(moves: readonly Move[]): HistoryBuilder {
    for (const move of moves) {
      this.#pass(move.pauseMs);
      this.#make(move);
    }
    for (const worker of this.#workers) this.#thaw(worker);
    this.builder.harness(this.#now, { ev: 'calm' });
    while (this.#line.length > 0) {
      const held = this.#claims.filter(({ granted, worker }) => granted && worker.state === 'runs');
      for (const claim of held) this.#giveUp(claim);
      this.#pass(TICK_MS);
    }
    const living = this.#workers.filter(({ state }) => state === 'runs').map(({ name }) => name);
    for (const worker of living) {
      this.builder.tell(worker, this.#now, { ev: 'closed', loopDelayMs: 1 });
      this.builder.harness(this.#now + 1, { ev: 'exited', worker, clean: true, tookMs: 1 });
    }
    return this.builder.harness(this.#now + 2, { ev: 'end' });
  }

  /** The claims of all workers that are waiting or holding, in the order of joining. */
  get #claims(): Claim[] {
    return [...new Set(this.#line.map(({ claim }) => claim))];
  }

  #make({ what, worker: index, queue: queueIndex }: Move): void {
    const worker = this.#workers[index % WORKERS]!;
    const queue = QUEUES[queueIndex % QUEUES.length]!;
    if (what === 'thaw') {
      this.#thaw(worker);
      return;
    }
    if (worker.state !== 'runs') return;
    const own = this.#claims.filter((claim) => claim.worker === worker);
    const held = own.find(({ granted }) => granted);
    if (what === 'join') this.#join(worker, [queue], {});
    if (what === 'read') this.#join(worker, [queue], { shared: true });
    if (what === 'join both') this.#join(worker, QUEUES, {});
    if (what === 'read both') this.#join(worker, QUEUES, { shared: true });
    if (what === 'take permits')
      this.#join(worker, [SEMAPHORE], { limit: PERMITS, permits: 1 + (queueIndex % PERMITS) });
    if (what === 'release' && held) this.#giveUp(held);
    if (what === 'downgrade' && held) this.#downgrade(held);
    if (what === 'write' && held) this.#write(held);
    const waiting = own.find(({ granted }) => !granted);
    if (what === 'cancel' && waiting) this.#giveUp(waiting);
    if (what === 'kill' || what === 'freeze') this.#stop(worker, what);
  }

  #stop(worker: Worker, what: 'kill' | 'freeze'): void {
    worker.state = what === 'kill' ? 'dead' : 'frozen';
    this.builder.harness(this.#now, { ev: what === 'kill' ? 'killed' : 'frozen', worker: worker.name });
    if (what === 'kill')
      this.builder.harness(this.#now, { ev: 'exited', worker: worker.name, clean: false, tookMs: 0 });
  }

  #thaw(worker: Worker): void {
    if (worker.state !== 'frozen') return;
    worker.state = 'runs';
    this.builder.harness(this.#now, { ev: 'thawed', worker: worker.name });
    if (this.#now < worker.deadline) return;
    // Uses the worker's own clock, as a real client does: it detects the end of the proven time even if the
    // server has not ended the session.
    for (const { n, queue, claim } of this.#heardOf(worker)) {
      const { granted } = claim;
      if (granted) this.builder.tell(worker.name, this.#now, { ev: 'look', held: false, n, queue });
      const of = { queue, n } as const;
      if (granted)
        this.builder.tell(worker.name, this.#now, { ev: 'revoked', reason: 'heartbeat-timeout', ...of });
      else
        this.builder.tell(worker.name, this.#now, { ev: 'failed', code: 'SESSION_LOST', message: '', ...of });
    }
    this.#open(worker);
  }

  /**
   * Removes and returns the entries that the worker still regards as its own, including those that expired
   * while it was frozen.
   */
  #heardOf(worker: Worker): Entry[] {
    const expired = this.#expired.filter(({ claim }) => claim.worker === worker);
    this.#expired = this.#expired.filter(({ claim }) => claim.worker !== worker);
    const present = this.#line.filter(({ claim }) => claim.worker === worker);
    this.#line = this.#line.filter(({ claim }) => claim.worker !== worker);
    return [...expired, ...present];
  }
  #expired: Entry[] = [];

  #open(worker: Worker): void {
    worker.session = `session-${++this.#sessions}`;
    worker.heartbeatAt = this.#now;
    worker.deadline = -Infinity;
    this.#beat(worker);
  }

  #beat(worker: Worker): void {
    if (this.#now < worker.heartbeatAt) return;
    const { session, name } = worker;
    const sentAt = stamp(this.#now);
    this.builder.tell(name, this.#now, { ev: 'beat', session, sentAt, provenMs: TTL_MS });
    worker.deadline = this.#now + PROVEN_MS;
    worker.expiry = this.#now + TTL_MS;
    worker.heartbeatAt = this.#now + TTL_MS / 4;
  }

  #join(worker: Worker, queues: readonly string[], terms: Terms): void {
    const claim: Claim = { worker, entries: [], terms, granted: false, shared: terms.shared ?? false };
    const token = ++this.#tokens;
    for (const queue of queues) claim.entries.push({ n: ++worker.attempts, queue, token, claim });
    this.#line.push(...claim.entries);
    const together = queues.length > 1 && { together: claim.entries.map(({ n }) => n) };
    const place = { token: String(token), order: String(token) };
    const { session, name } = worker;
    for (const { n, queue } of claim.entries) {
      this.builder.tell(name, this.#now, { ev: 'enqueue', queue, n, terms, ...together });
      this.builder.tell(name, this.#now + 0.5, { ev: 'queued', queue, n, key: 'k', session, ...place });
    }
    this.#pass(TICK_MS);
  }

  #giveUp({ worker, entries, granted }: Claim): void {
    for (const { n, queue } of entries) {
      this.builder.tell(worker.name, this.#now, { ev: granted ? 'released' : 'cancelled', queue, n });
      this.builder.tell(worker.name, this.#now + 1, { ev: 'left', queue, n });
    }
    this.#line = this.#line.filter((each) => !entries.includes(each));
    this.#pass(TICK_MS);
  }

  #downgrade(claim: Claim): void {
    const [entry] = claim.entries;
    if (claim.shared || claim.entries.length > 1 || claim.terms.limit || !entry) return;
    this.builder.tell(claim.worker.name, this.#now, { ev: 'downgrading', queue: entry.queue, n: entry.n });
    claim.shared = true;
    this.#pass(TICK_MS);
  }

  #write({ worker, entries, shared, terms }: Claim): void {
    if (shared || terms.limit) return;
    for (const { n, queue, token } of entries)
      for (const resource of ['store', 'log'] as const)
        this.builder.effect(worker.name, this.#now, { token, n, queue, resource, number: ++this.#writes });
    this.#pass(TICK_MS);
  }

  #pass(ms: number): void {
    for (const until = this.#now + ms; this.#now < until; this.#now += TICK_MS) this.#tick();
  }

  #tick(): void {
    for (const worker of this.#workers) if (worker.state === 'runs') this.#beat(worker);
    const isDead = ({ claim: { worker } }: Entry): boolean =>
      worker.state !== 'runs' && worker.expiry <= this.#now;
    this.#expired.push(...this.#line.filter(isDead));
    this.#line = this.#line.filter((entry) => !isDead(entry));
    for (const claim of this.#claims) this.#serve(claim);
  }

  #serve(claim: Claim): void {
    const { worker, entries } = claim;
    if (worker.state !== 'runs') return;
    if (claim.granted) {
      for (const { n, queue } of entries)
        this.builder.tell(worker.name, this.#now, { ev: 'look', held: true, n, queue });
      return;
    }
    if (!entries.every((entry) => this.#isAdmitted(entry))) return;
    claim.granted = true;
    const remainingMs = worker.deadline - this.#now;
    for (const { n, queue, token } of entries) {
      const place = { token: String(token), order: String(token) };
      this.builder.tell(worker.name, this.#now + 1, { ev: 'acquired', queue, n, remainingMs, ...place });
    }
  }

  /** Returns whether this entry and the conflicting entries ahead together need no more permits than the limit. */
  #isAdmitted(entry: Entry): boolean {
    const ahead = this.#line.filter(({ queue, token }) => queue === entry.queue && token < entry.token);
    const conflicting = ahead.filter(({ claim }) => !(claim.shared && entry.claim.shared));
    const { limit = 1, permits = 1 } = entry.claim.terms;
    return conflicting.reduce((sum, { claim }) => sum + (claim.terms.permits ?? 1), permits) <= limit;
  }
}
