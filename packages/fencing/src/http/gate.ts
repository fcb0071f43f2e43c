import { checkedOptions, type KnownOptions } from '@queuelock/core/backend';
import { compareEpochTokens, type EpochToken } from '../epoch.ts';
import {
  malformed,
  printToken,
  readFencingHeaders,
  type FencingClaim,
  type FencingFault,
  type HeaderGetter,
} from './headers.ts';
import { EffectQueues } from './effect-queues.ts';
import { memoryMaxima, type Maxima } from './maxima.ts';

/** The result for a request that belongs to the latest holder that the gate knows. */
export interface FencingAccepted extends FencingClaim {
  readonly outcome: 'accepted';
}

/** The result for a request that the gate refuses, with the reason. */
export type FencingRefusal =
  | FencingFault
  /** Refused: the gate has already accepted a request of a later holder. */
  | {
      readonly outcome: 'refused';
      readonly status: 412;
      readonly reason: string;
      readonly largest: EpochToken;
    };

/** Options of {@link createFencingGate}. */
export interface FencingGateOptions {
  /** Stores the largest token of each resource. Default: {@link memoryMaxima}. */
  readonly maxima?: Maxima;
}

/** The resource that a request changes, identified by the lock that guards it. */
export interface FencingTarget {
  /**
   * The name of the lock that guards the resource. A request that names another lock is refused as malformed.
   * Without this option, the gate stores a largest token for each lock name.
   */
  readonly lock?: string;
}

/** Accepts only requests that belong to the latest holder of a lock. */
export interface FencingGate {
  /**
   * Compares the token of a request with the largest token so far of its resource, and stores the larger one.
   * It orders requests, not their effects: an accepted request may still be running when a request of a later
   * holder is accepted. Use `run` to order effects, or pass the token on to the store.
   *
   * Rejects when the largest token cannot be read. Serve no request then.
   */
  check(header: HeaderGetter, target?: FencingTarget): Promise<FencingAccepted | FencingRefusal>;
  /**
   * Checks a request as `check` does, and runs its effect if the request is accepted. Within this gate, the
   * effect runs after the effects of earlier holders and before any effect of a later holder. An effect that
   * never settles blocks all later holders, so give it a timeout. Rejects with the error of the effect.
   */
  run<T>(
    header: HeaderGetter,
    effect: (accepted: FencingAccepted) => T | PromiseLike<T>,
    target?: FencingTarget,
  ): Promise<(FencingAccepted & { readonly value: Awaited<T> }) | FencingRefusal>;
}

const OPTIONS: KnownOptions<FencingGateOptions> = { maxima: 'object' };
const TARGET: KnownOptions<FencingTarget> = { lock: 'string' };

/**
 * Creates a fencing gate, which may guard any number of resources. The gate does not authenticate or
 * authorize the sender.
 */
export function createFencingGate(options?: FencingGateOptions): FencingGate {
  const { maxima = memoryMaxima() } = checkedOptions('options of createFencingGate', options, OPTIONS);
  const queues = new EffectQueues();

  async function decide(claim: FencingClaim): Promise<FencingAccepted | FencingRefusal> {
    const { name, epoch, token } = claim;
    const largest = await maxima.raise(name, { epoch, token });
    return compareEpochTokens(claim, largest) < 0
      ? refused(claim, largest)
      : { outcome: 'accepted', ...claim };
  }

  return {
    async check(header, target) {
      const claim = claimOf(header, target);
      return 'outcome' in claim ? claim : decide(claim);
    },
    async run(header, effect, target) {
      const claim = claimOf(header, target);
      if ('outcome' in claim) return claim;
      const queued = queues.enter(claim.name);
      try {
        const decision = await decide(claim);
        if (decision.outcome !== 'accepted') return decision;
        const done = await queued.run(claim, () => effect(decision));
        return done === undefined ? await refusedByLarger(claim) : { ...decision, value: done.value };
      } finally {
        queued.leave();
      }
    },
  };

  async function refusedByLarger(claim: FencingClaim): Promise<FencingRefusal> {
    const { epoch, token } = claim;
    return refused(claim, await maxima.raise(claim.name, { epoch, token }));
  }
}

function claimOf(header: HeaderGetter, target?: FencingTarget): FencingClaim | FencingFault {
  const { lock } = checkedOptions('target', target, TARGET);
  const claim = readFencingHeaders(header);
  if ('outcome' in claim || lock === undefined || lock === claim.name) return claim;
  return malformed('fencing-name names a lock that does not guard this resource');
}

function refused(claim: FencingClaim, largest: EpochToken): FencingRefusal {
  const reason = `the hold of ${JSON.stringify(claim.name)} with token ${printToken(claim)} is refused: a later holder of the lock sent a request before, with token ${printToken(largest)}`;
  return { outcome: 'refused', status: 412, reason, largest };
}
