import { KIND_OF, type Step, type Terms } from './step.ts';

/** A claim as the generator of scripts sees it. */
export interface ClaimView {
  readonly name: string;
  readonly client: string;
  readonly queues: readonly string[];
  readonly terms: Terms;
  readonly status: 'joining' | 'waiting' | 'holding' | 'over';
  /**
   * Whether the claim's entry is shared, perhaps because the claim has changed it from exclusive to shared.
   */
  readonly isShared: boolean;
  /** Names of the claims whose requests the holder has received and not replied to. */
  readonly requests: readonly string[];
}

/**
 * The claims of a script after the steps that were already made, in the order in which the claims were made.
 */
export interface Situation {
  readonly claims: readonly ClaimView[];
}

/**
 * Returns whether the effect of the step does not depend on the speed of the clients. Scripts contain only
 * such steps. Overtaken waiters join again at the same time, so a step may overtake at most one. A claim that
 * is rejected because of its limit withdraws its handover request at once, so the holder may not see the
 * request.
 */
export function isDetermined(step: Step, { claims }: Situation): boolean {
  const named = (name: string): ClaimView | undefined => claims.find((claim) => claim.name === name);
  const waitersOf = (queue: string): readonly ClaimView[] =>
    claims.filter(({ status, queues }) => status === 'waiting' && queues.includes(queue));
  switch (step.act) {
    case 'claim': {
      const { isTheft, isRequest, limit } = step.terms;
      if (isTheft) return step.queues.every((queue) => waitersOf(queue).length < 2);
      return (
        !isRequest || claims.every((other) => other.terms.limit === limit || !isIn(step.queues[0]!, other))
      );
    }
    case 'abort':
      return named(step.claim)?.status === 'waiting';
    case 'release':
      return named(step.claim)?.status === 'holding';
    case 'downgrade':
    case 'update': {
      const claim = named(step.claim);
      return claim?.status === 'holding' && claim.queues.length === 1 && isLock(claim);
    }
    case 'reply': {
      const holder = named(step.claim);
      if (holder?.status !== 'holding' || named(step.to)?.status !== 'waiting') return false;
      if (!holder.requests.includes(step.to)) return false;
      return step.reply !== 'yieldToRequester' || waitersOf(holder.queues[0]!).length < 3;
    }
    case 'evict':
    case 'remove':
      return ['waiting', 'holding'].includes(named(step.claim)?.status ?? 'over');
    case 'end session':
    case 'close':
      return liveOf(step.client, claims).length > 0;
    case 'move': {
      // No client can take over a claim of several names by the ids of its entries. So a session with such a
      // claim does not move.
      const live = liveOf(step.client, claims);
      return live.length > 0 && live.every(({ queues }) => queues.length === 1);
    }
    case 'limit':
    case 'list':
    case 'drain':
      return true;
  }
}

function isIn(queue: string, { status, queues }: ClaimView): boolean {
  return status !== 'over' && queues.includes(queue);
}

function isLock({ terms, queues }: ClaimView): boolean {
  return terms.limit === undefined && queues.every((queue) => KIND_OF[queue] === 'lock');
}

/** Returns the claims of a client that have not ended. */
function liveOf(client: string, claims: readonly ClaimView[]): readonly ClaimView[] {
  return claims.filter((claim) => claim.client === client && claim.status !== 'over');
}
