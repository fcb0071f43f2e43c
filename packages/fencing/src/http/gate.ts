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
import { Lines } from './line.ts';
import { memoryMaxima, type Maxima } from './maxima.ts';

/** The request comes from the latest holder known. */
export interface FencingAccepted extends FencingClaim {
  readonly outcome: 'accepted';
}

/** Why a request is not let in. */
export type FencingRefusal =
  | FencingFault
  /** A later holder was here. */
  | {
      readonly outcome: 'refused';
      readonly status: 412;
      readonly reason: string;
      readonly largest: EpochToken;
    };

/** Settings of {@link createFencingGate}. */
export interface FencingGateOptions {
  /** Default: {@link memoryMaxima}. */
  readonly maxima?: Maxima;
}

/** What a request is about. */
export interface FencingTarget {
  /** The lock that guards the resource: a request with another name is malformed. Without it, each name has its own maximum. */
  readonly lock?: string;
}

/** Lets in what comes from the latest holder of a lock. */
export interface FencingGate {
  /**
   * Compares a request with the largest token so far, and raises that. It orders requests, not what they do afterwards: an accepted
   * one may still be working when a later holder's comes. Use `run` for that, or pass the token on to the store.
   * Rejects when the maxima cannot be asked; let nobody pass then.
   */
  check(header: HeaderGetter, target?: FencingTarget): Promise<FencingAccepted | FencingRefusal>;
  /**
   * As `check`, and runs the effect before any effect of a later holder and after those of earlier ones, within this gate. An effect
   * that never ends holds up all later holders: bound its time. Rejects with what the effect rejects with.
   */
  run<T>(
    header: HeaderGetter,
    effect: (accepted: FencingAccepted) => T | PromiseLike<T>,
    target?: FencingTarget,
  ): Promise<(FencingAccepted & { readonly value: Awaited<T> }) | FencingRefusal>;
}

const OPTIONS: KnownOptions<FencingGateOptions> = { maxima: 'object' };
const TARGET: KnownOptions<FencingTarget> = { lock: 'string' };

/** Creates a gate: one for all that it guards. Who may send at all is for others to decide. */
export function createFencingGate(options?: FencingGateOptions): FencingGate {
  const { maxima = memoryMaxima() } = checkedOptions('options of createFencingGate', options, OPTIONS);
  const lines = new Lines();

  async function ask(claim: FencingClaim): Promise<FencingAccepted | FencingRefusal> {
    const { name, epoch, token } = claim;
    const largest = await maxima.raise(name, { epoch, token });
    return compareEpochTokens(claim, largest) < 0
      ? refused(claim, largest)
      : { outcome: 'accepted', ...claim };
  }

  return {
    async check(header, target) {
      const claim = claimOf(header, target);
      return 'outcome' in claim ? claim : ask(claim);
    },
    async run(header, effect, target) {
      const claim = claimOf(header, target);
      if ('outcome' in claim) return claim;
      const place = lines.enter(claim.name);
      try {
        const answer = await ask(claim);
        if (answer.outcome !== 'accepted') return answer;
        const done = await place.run(claim, () => effect(answer));
        return done === undefined ? await overtaken(claim) : { ...answer, value: done.value };
      } finally {
        place.leave();
      }
    },
  };

  async function overtaken(claim: FencingClaim): Promise<FencingRefusal> {
    const { epoch, token } = claim;
    return refused(claim, await maxima.raise(claim.name, { epoch, token }));
  }
}

function claimOf(header: HeaderGetter, target?: FencingTarget): FencingClaim | FencingFault {
  const { lock } = checkedOptions('target', target, TARGET);
  const claim = readFencingHeaders(header);
  if ('outcome' in claim || lock === undefined || lock === claim.name) return claim;
  return malformed('the lock that is named does not guard this resource');
}

function refused(claim: FencingClaim, largest: EpochToken): FencingRefusal {
  const reason = `the hold of ${JSON.stringify(claim.name)} with token ${printToken(claim)} is refused: a later holder of the lock was here, with token ${printToken(largest)}`;
  return { outcome: 'refused', status: 412, reason, largest };
}
