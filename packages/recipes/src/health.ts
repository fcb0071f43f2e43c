import type { Clock, LockClient, SessionState } from '@queuelock/core';
import {
  after,
  checkedObject,
  checkedOptions,
  inCallerContext,
  invalidArgument,
  type KnownOptions,
} from '@queuelock/core/backend';
import { machineClock } from './clock.ts';
import type { CheckIn, Health, HealthOptions, HealthState, SupervisionOptions } from './health-api.ts';
import {
  isProven,
  judgeHealth,
  nextChangeAt,
  type HealthFacts,
  type SupervisedWork,
} from './health-judge.ts';
import {
  BehaviorSubject,
  EMPTY,
  concat,
  defer,
  distinctUntilChanged,
  of,
  switchMap,
  takeWhile,
  type Observable,
} from './rx.ts';

const OPTIONS: KnownOptions<HealthOptions> = { unreadyAfterMs: 'number', clock: 'object' };
const SUPERVISION: KnownOptions<SupervisionOptions> = { checkInWithinMs: 'number' };

/**
 * Returns liveness and readiness of a process that uses this client, for the probes of Kubernetes and load balancers.
 *
 * - Ready: the session is proven by heartbeats, or was not needed yet, and the process is not draining.
 * - Live: no supervised work is overdue. Liveness does not depend on the store: a restart of the process would not help,
 *   and would end all holds.
 *
 * It subscribes to `session$` and sends no request of its own. The subscription ends when the client is closed.
 *
 * Not promised: that work which checks in makes progress, or that a process with a blocked event loop responds at all. Give the probe a timeout.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a bad option
 * @example
 * const health = healthOf(locks);
 * createServer((request, response) => {
 *   const { live, ready } = health.now();
 *   const { ok, problems } = request.url === '/livez' ? live : ready;
 *   response.writeHead(ok ? 200 : 503).end(JSON.stringify(problems));
 * });
 */
export function healthOf(client: Pick<LockClient, 'session$'>, options?: HealthOptions): Health {
  checkedObject('client', client);
  const { unreadyAfterMs = 0, clock = machineClock } = checkedOptions(
    'options of healthOf',
    options,
    OPTIONS,
  );
  if (!(unreadyAfterMs >= 0)) {
    throw invalidArgument('unreadyAfterMs', unreadyAfterMs, 'is a number of milliseconds from 0 up');
  }
  return new ClientHealth(client, { unreadyAfterMs, clock });
}

class ClientHealth implements Health {
  readonly state$: Observable<HealthState>;
  readonly #clock: Clock;
  readonly #unreadyAfterMs: number;
  readonly #facts$: BehaviorSubject<HealthFacts>;

  constructor(
    { session$ }: Pick<LockClient, 'session$'>,
    { unreadyAfterMs, clock }: Required<HealthOptions>,
  ) {
    this.#clock = clock;
    this.#unreadyAfterMs = unreadyAfterMs;
    this.#facts$ = new BehaviorSubject<HealthFacts>({
      session: { status: 'idle', since: clock.now() },
      works: [],
      isDraining: false,
    });
    // Subscribes for the whole life of the client: the subscription sends no request, and ends when the
    // client is closed.
    session$
      .pipe(takeWhile(({ status }) => status !== 'closed', true))
      .subscribe((state) => this.#onSession(state)); // eslint-disable-line rxjs-x/no-ignored-error -- session$ never errors
    this.state$ = inCallerContext(this.#states());
  }

  now(): HealthState {
    return judgeHealth(this.#facts$.value, { at: this.#clock.now(), unreadyAfterMs: this.#unreadyAfterMs });
  }

  async supervise<T>(
    name: string,
    work: (checkIn: CheckIn) => T | PromiseLike<T>,
    options: SupervisionOptions,
  ): Promise<Awaited<T>> {
    const { checkInWithinMs } = checkedOptions('options of supervise', options, SUPERVISION);
    if (!(checkInWithinMs >= 1)) {
      throw invalidArgument('checkInWithinMs', checkInWithinMs, 'is a number of milliseconds from 1 up');
    }
    let present: SupervisedWork = { name, checkInWithinMs, checkedInAt: this.#clock.now() };
    this.#change({ works: [...this.#facts$.value.works, present] });
    const replaceWith = (...next: readonly SupervisedWork[]): void => {
      const { works } = this.#facts$.value;
      if (works.includes(present))
        this.#change({ works: works.flatMap((one) => (one === present ? next : [one])) });
    };
    try {
      return await work(() => {
        const next = { ...present, checkedInAt: this.#clock.now() };
        replaceWith(next);
        present = next;
      });
    } finally {
      replaceWith();
    }
  }

  drain(): void {
    if (!this.#facts$.value.isDraining) this.#change({ isDraining: true });
  }

  #onSession({ status }: SessionState): void {
    const { session } = this.#facts$.value;
    const isSameSpell = isProven(session.status) === isProven(status);
    this.#change({ session: { status, since: isSameSpell ? session.since : this.#clock.now() } });
  }

  #change(facts: Partial<HealthFacts>): void {
    this.#facts$.next({ ...this.#facts$.value, ...facts });
  }

  #states(): Observable<HealthState> {
    return this.#facts$.pipe(
      switchMap(() => this.#statesFromNow()),
      distinctUntilChanged((one, other) => JSON.stringify(one) === JSON.stringify(other)),
      takeWhile(({ session }) => session !== 'closed', true),
    );
  }

  /** Emits the state now, and again each time that `unreadyAfterMs` ends or a check-in becomes overdue. */
  #statesFromNow(): Observable<HealthState> {
    return defer(() => {
      const at = this.#clock.now();
      const next = nextChangeAt(this.#facts$.value, { at, unreadyAfterMs: this.#unreadyAfterMs });
      const later$ = next === undefined ? EMPTY : after(this.#clock, next - at);
      return concat(of(this.now()), later$.pipe(switchMap(() => this.#statesFromNow())));
    });
  }
}
