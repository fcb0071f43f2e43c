import { MARGIN_MS, PROVEN_MS, TTL_MS, Tale, stamp } from './tale.ts';

/** What happens next in a simulation, after a pause; numbers choose among what there is. */
export interface Move {
  readonly what: 'join' | 'release' | 'cancel' | 'kill' | 'freeze' | 'thaw' | 'write';
  readonly worker: number;
  readonly queue: number;
  readonly pauseMs: number;
}

interface Entry {
  readonly worker: Worker;
  readonly n: number;
  readonly queue: string;
  readonly token: number;
  granted: boolean;
}

interface Worker {
  readonly name: string;
  state: 'runs' | 'frozen' | 'dead';
  attempts: number;
  session: string;
  /** By its own clock, and by the server's. */
  deadline: number;
  expiry: number;
  beatAt: number;
}

const TICK_MS = 10;
const WORKERS = 4;
const QUEUES = ['q', 'r'];

/** A correct lock, its servers and its workers, told as a history: sessions expire, tokens grow, looks compare the clock. */
export class SimulatedLock {
  readonly tale: Tale = new Tale();
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
        beatAt: 0,
      };
      this.#workers.push(worker);
      this.tale.tell(worker.name, 0, { ev: 'started', pid: i, ttlMs: TTL_MS, marginMs: MARGIN_MS });
      this.#open(worker);
    }
  }

  play(moves: readonly Move[]): Tale {
    for (const move of moves) {
      this.#pass(move.pauseMs);
      this.#make(move);
    }
    for (const worker of this.#workers) this.#thaw(worker);
    this.tale.harness(this.#now, { ev: 'calm' });
    while (this.#line.length > 0) {
      const held = this.#line.filter(({ granted, worker }) => granted && worker.state === 'runs');
      for (const entry of held) this.#giveUp(entry);
      this.#pass(TICK_MS);
    }
    const living = this.#workers.filter(({ state }) => state === 'runs').map(({ name }) => name);
    for (const worker of living) {
      this.tale.tell(worker, this.#now, { ev: 'closed', loopDelayMs: 1 });
      this.tale.harness(this.#now + 1, { ev: 'exited', worker, clean: true, tookMs: 1 });
    }
    return this.tale.harness(this.#now + 2, { ev: 'end' });
  }

  #make({ what, worker: index, queue: queueIndex }: Move): void {
    const worker = this.#workers[index % WORKERS]!;
    const queue = QUEUES[queueIndex % QUEUES.length]!;
    if (what === 'thaw') {
      this.#thaw(worker);
      return;
    }
    if (worker.state !== 'runs') return;
    const own = this.#line.filter((entry) => entry.worker === worker);
    const held = own.find(({ granted }) => granted);
    if (what === 'join') this.#join(worker, queue);
    if (what === 'release' && held) this.#giveUp(held);
    if (what === 'write' && held) this.#write(held);
    const waiting = own.find(({ granted }) => !granted);
    if (what === 'cancel' && waiting) this.#giveUp(waiting);
    if (what === 'kill' || what === 'freeze') this.#stop(worker, what);
  }

  #stop(worker: Worker, what: 'kill' | 'freeze'): void {
    worker.state = what === 'kill' ? 'dead' : 'frozen';
    this.tale.harness(this.#now, { ev: what === 'kill' ? 'killed' : 'frozen', worker: worker.name });
    if (what === 'kill')
      this.tale.harness(this.#now, { ev: 'exited', worker: worker.name, clean: false, tookMs: 0 });
  }

  #thaw(worker: Worker): void {
    if (worker.state !== 'frozen') return;
    worker.state = 'runs';
    this.tale.harness(this.#now, { ev: 'thawed', worker: worker.name });
    if (this.#now < worker.deadline) return;
    // It finds its time up, whatever the server did meanwhile.
    for (const { n, queue, granted } of this.#heardOf(worker)) {
      if (granted) this.tale.look(worker.name, this.#now, false, { n, queue });
      const of = { queue, n } as const;
      if (granted)
        this.tale.tell(worker.name, this.#now, { ev: 'revoked', reason: 'in-doubt-too-long', ...of });
      else this.tale.tell(worker.name, this.#now, { ev: 'failed', code: 'SESSION_LOST', message: '', ...of });
    }
    this.#open(worker);
  }

  /** What this worker believes to have: also what expired while it stood still. Forgets it. */
  #heardOf(worker: Worker): Entry[] {
    const expired = this.#expired.filter((entry) => entry.worker === worker);
    this.#expired = this.#expired.filter((entry) => entry.worker !== worker);
    const present = this.#line.filter((entry) => entry.worker === worker);
    this.#line = this.#line.filter((entry) => entry.worker !== worker);
    return [...expired, ...present];
  }
  #expired: Entry[] = [];

  #open(worker: Worker): void {
    worker.session = `session-${++this.#sessions}`;
    worker.beatAt = this.#now;
    worker.deadline = -Infinity;
    this.#beat(worker);
  }

  #beat(worker: Worker): void {
    if (this.#now < worker.beatAt) return;
    const { session, name } = worker;
    const sentAt = stamp(this.#now);
    this.tale.tell(name, this.#now, { ev: 'beat', session, sentAt, provenMs: TTL_MS });
    worker.deadline = this.#now + PROVEN_MS;
    worker.expiry = this.#now + TTL_MS;
    worker.beatAt = this.#now + TTL_MS / 4;
  }

  #join(worker: Worker, queue: string): void {
    const n = ++worker.attempts;
    const token = ++this.#tokens;
    this.#line.push({ worker, n, queue, token, granted: false });
    const place = { token: String(token), order: String(token) };
    this.tale.tell(worker.name, this.#now, { ev: 'enqueue', queue, n });
    const { session } = worker;
    this.tale.tell(worker.name, this.#now + 0.5, { ev: 'queued', queue, n, key: 'k', session, ...place });
    this.#pass(TICK_MS);
  }

  #giveUp(entry: Entry): void {
    const { n, queue, worker, granted } = entry;
    this.tale.tell(worker.name, this.#now, { ev: granted ? 'released' : 'cancelled', queue, n });
    this.tale.tell(worker.name, this.#now + 1, { ev: 'left', queue, n });
    this.#line = this.#line.filter((each) => each !== entry);
    this.#pass(TICK_MS);
  }

  #write({ worker, n, queue, token }: Entry): void {
    for (const resource of ['store', 'log'] as const)
      this.tale.effect(worker.name, this.#now, { token, n, queue, resource, number: ++this.#writes });
    this.#pass(TICK_MS);
  }

  #pass(ms: number): void {
    for (const until = this.#now + ms; this.#now < until; this.#now += TICK_MS) this.#tick();
  }

  #tick(): void {
    for (const worker of this.#workers) if (worker.state === 'runs') this.#beat(worker);
    const isDead = ({ worker }: Entry): boolean => worker.state !== 'runs' && worker.expiry <= this.#now;
    this.#expired.push(...this.#line.filter(isDead));
    this.#line = this.#line.filter((entry) => !isDead(entry));
    for (const queue of QUEUES) this.#serve(this.#line.find((entry) => entry.queue === queue));
  }

  #serve(first: Entry | undefined): void {
    if (first?.worker.state !== 'runs') return;
    const { worker, n, queue, token } = first;
    if (first.granted) {
      this.tale.look(worker.name, this.#now, true, { n, queue });
      return;
    }
    first.granted = true;
    const place = { token: String(token), order: String(token) };
    const remainingMs = worker.deadline - this.#now;
    this.tale.tell(worker.name, this.#now + 1, { ev: 'acquired', queue, n, remainingMs, ...place });
  }
}
