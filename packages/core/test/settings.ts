import { BehaviorSubject, type Observable } from 'rxjs';
import type { ClaimOptions, ClaimState, LockClient, MultiClaimState, MultiOptions } from '../src/index.ts';
import type { Stage } from './stage.ts';

/**
 * The state of a queue in which a new claim must wait: another client holds the lock, or a limit is used up.
 */
interface Setting {
  claim(
    client: LockClient,
    options: Pick<MultiOptions, 'signal' | 'timeoutMs'>,
  ): Observable<ClaimState | MultiClaimState>;
  release(): void;
  /** Cleans up after the test: releases the lock and ends the claims that made the new claim wait. */
  tidy(): Promise<unknown>;
}

/**
 * A reason for which a claim waits, such as a holder or a full semaphore. Tests run once for each of these
 * reasons.
 */
export interface Kind {
  readonly what: string;
  readonly names: readonly string[];
  readonly set: (stage: Stage) => Promise<Setting>;
}

const LIMIT_CHANGES_AFTER_MS = [25, 45] as const;
const REASON = { reason: 'a test' };

export const KINDS: readonly Kind[] = [
  {
    what: 'a reader behind a writer',
    names: ['x'],
    set: async (stage) => ({
      ...(await behindHolder(stage)),
      claim: (client, options) => client.claim('x', { ...options, mode: 'shared' }),
    }),
  },
  {
    what: 'two permits of three',
    names: ['x'],
    set: async (stage) => ({
      ...(await behindHolder(stage, { limit: 3, permits: 2 })),
      claim: (client, options) => client.claim('x', { ...options, limit: 3, permits: 2 }),
    }),
  },
  {
    what: 'permits of a number that changes meanwhile',
    names: ['x'],
    async set(stage) {
      const limit$ = new BehaviorSubject(1);
      const holder = await stage.client().acquire('x', { limit: limit$ });
      LIMIT_CHANGES_AFTER_MS.forEach((ms, at) => stage.clock.after(ms, () => limit$.next(2 - at)));
      return {
        claim: (client, options) => client.claim('x', { ...options, limit: limit$, permits: 2 }),
        release: () => limit$.next(3),
        tidy: () => holder.release(),
      };
    },
  },
  {
    what: 'a steal',
    names: ['x'],
    async set(stage) {
      const holder = await stage.client().acquire('x');
      const waiter = stage.client().claim('x').subscribe();
      await stage.settle();
      return {
        claim: (client, options) => client.claim('x', { ...options, steal: REASON }),
        release: () => undefined,
        tidy: async () => {
          waiter.unsubscribe();
          await holder.release();
        },
      };
    },
  },
  {
    what: 'a place in a queue with a limit of waiters',
    names: ['x'],
    set: async (stage) => ({
      ...(await behindHolder(stage)),
      claim: (client, options) => client.claim('x', { ...options, maxWaiters: 1, maxExpectedWaitMs: 1_000 }),
    }),
  },
  {
    what: 'a request to the holder',
    names: ['x'],
    async set(stage) {
      const holder = await stage.client().acquire('x');
      holder.requests$.subscribe((request) => void request.yieldToRequester().catch(() => undefined));
      return {
        claim: (client, options) => client.claim('x', { ...options, request: { ...REASON, withinMs: 30 } }),
        release: () => undefined,
        tidy: () => holder.release(),
      };
    },
  },
  {
    what: 'three names together',
    names: ['x', 'y', 'z'],
    set: async (stage) => ({
      ...(await behindHolder(stage)),
      claim: (client, options) => client.multi(['z', 'x', 'y']).claim(options),
    }),
  },
  {
    what: 'three names together, one of which is overtaken',
    names: ['x', 'y', 'z'],
    async set(stage) {
      const stealer = stage.client();
      return {
        ...(await behindHolder(stage)),
        claim: (client, options) => client.multi(['z', 'x', 'y']).claim(options),
        release: () => void stealer.run('x', () => undefined, { steal: REASON }),
      };
    },
  },
];

async function behindHolder(
  stage: Stage,
  held: Pick<ClaimOptions, 'limit' | 'permits'> = {},
): Promise<Omit<Setting, 'claim'>> {
  const holder = await stage.client().acquire('x', held);
  return { release: () => void holder.release(), tidy: () => holder.release() };
}
