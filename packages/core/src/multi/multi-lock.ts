import type { MultiClaimState, MultiLock, MultiOptions, MultiRunOptions } from '../api/api.ts';
import {
  checkNames,
  checkWaitLimit,
  checkWork,
  requestOf,
  type RequestDefaults,
} from '../checks/arguments.ts';
import { inCallerContext } from '../base/caller-context.ts';
import { heldByThisChain, runWithin } from '../reentrancy/call-chain.ts';
import { checkedOptions } from '../checks/checked-options.ts';
import { QueueLockError, isQueueLockError } from '../api/errors.ts';
import { waitUntilHeld } from '../claim/wait-until-held.ts';
import type { MultiOwnership } from '../api/hold-api.ts';
import { MULTI_OPTIONS, MULTI_RUN_OPTIONS, TRY_MULTI_OPTIONS } from '../checks/known-options.ts';
import type { ClaimContext } from '../claim/claim-context.ts';
import { claimTogether } from './multi.ts';
import type { Observable } from '../base/rx.ts';
import type { Backend } from '../api/spi.ts';
import { waitOf } from '../work/work-options.ts';
import { workUnder } from '../work/work.ts';
import type { Works } from '../work/works.ts';

/** The parts of a client that a lock of several names uses. */
export interface MultiTools {
  /**
   * Object that identifies the client, so that its holds can be distinguished from those of other clients.
   */
  readonly by: object;
  readonly backend: Backend;
  readonly context: ClaimContext;
  readonly defaults: RequestDefaults;
  readonly works: Works;
}

/** A lock of several names of one client. */
export class NamesTogether implements MultiLock {
  readonly names: readonly string[];
  readonly #tools: MultiTools;

  constructor(names: readonly string[], tools: MultiTools) {
    checkNames(names, tools.backend);
    this.names = [...names];
    this.#tools = tools;
  }

  claim(options?: MultiOptions): Observable<MultiClaimState> {
    return inCallerContext(this.#claim(checkedOptions('options of claim', options, MULTI_OPTIONS)));
  }

  async acquire(options?: MultiOptions): Promise<MultiOwnership> {
    return this.#acquire(checkedOptions('options of acquire', options, MULTI_OPTIONS));
  }

  #claim(options: MultiOptions): Observable<MultiClaimState> {
    const { context, defaults } = this.#tools;
    const { signal, timeoutMs, ...each } = options;
    checkWaitLimit(options);
    const requests = this.names.map((name) => requestOf(name, each, defaults));
    return claimTogether(context, requests, { signal, timeoutMs });
  }

  async #acquire(options: MultiOptions): Promise<MultiOwnership> {
    const claim$ = this.#claim(options);
    if (options.timeoutMs !== 0) this.#refuseReentry();
    return waitUntilHeld(claim$);
  }

  async tryAcquire(options?: Omit<MultiOptions, 'timeoutMs'>): Promise<MultiOwnership | undefined> {
    const checked = checkedOptions('options of tryAcquire', options, TRY_MULTI_OPTIONS);
    try {
      return await this.#acquire({ ...checked, timeoutMs: 0 });
    } catch (error) {
      if (isQueueLockError(error, 'TIMEOUT')) return undefined;
      throw error;
    }
  }

  async run<T>(
    work: (ownership: MultiOwnership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: MultiRunOptions,
  ): Promise<Awaited<T>> {
    checkWork(work);
    const { wait, limits } = waitOf(checkedOptions('options of run', options, MULTI_RUN_OPTIONS));
    const ownership = await this.#acquire(wait);
    const { clock, closing } = this.#tools.context;
    const what = `the locks ${JSON.stringify(this.names)}`;
    const within: typeof work = (own, stop) =>
      this.names.reduce(
        (inner: () => T | PromiseLike<T>, name) => () =>
          runWithin({ by: this.#tools.by, ownership: ownership.of(name), permits: 1 }, inner),
        () => work(own, stop),
      )();
    return await this.#tools.works.during(() =>
      workUnder(ownership, { what, work: within, clock, closing, ...limits }),
    );
  }

  #refuseReentry(): void {
    const held = heldByThisChain().find(
      ({ by, ownership }) => by === this.#tools.by && this.names.includes(ownership.name),
    );
    if (!held) return;
    throw new QueueLockError(
      'REENTRANT',
      `${JSON.stringify(held.ownership.name)} is already held by this call chain, which would wait for itself forever`,
    );
  }
}
