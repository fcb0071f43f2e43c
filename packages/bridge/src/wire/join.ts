import * as v from 'valibot';
import { handoverRequestSchema, type WireHandoverRequest } from './handover.ts';
import { errorSchema, type WireError } from './error.ts';
import { intervalSchema } from './interval.ts';

/** Body of the request to join a queue. */
export interface JoinRequest {
  readonly name: string;
  /** Owner label, shown to all users. The name that `authorize` returns replaces it. */
  readonly owner?: string;
  /** Metadata, shown to all users: never a secret. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Mode of the entry: `exclusive` (the default) or `shared`. */
  readonly mode?: 'exclusive' | 'shared';
  /** Longest time in milliseconds that the entry may wait in the queue. Default: no limit. */
  readonly timeoutMs?: number;
  /**
   * Handover request to the holder, which the entry carries. It needs the same permission as
   * `BridgeClient.ask`, and counts in the same quota.
   */
  readonly request?: WireHandoverRequest;
  /**
   * Key that the page chooses at random, so that it can repeat a request whose response was lost. Default: the bridge chooses.
   */
  readonly key?: JoinKey;
}

/** Id of a join, and the secret that proves the right to control it. */
export interface JoinKey {
  /** Id of the join: 24 hexadecimal digits. */
  readonly id: string;
  /** Secret of 32 to 64 letters, digits, `-`, `_`. Any client that has it can control the join. */
  readonly secret: string;
}

/**
 * The key of a new join, and how long its page may stay silent. The bridge sends it in response to a request
 * to join.
 */
export interface JoinResponse extends JoinKey {
  /**
   * Longest time in milliseconds without a stream and without a touch. After it the bridge leaves the queue
   * or releases the lock.
   */
  readonly graceMs: number;
}

/** A handover request that came through the bridge and has no answer yet. */
export interface HandoverSnapshot {
  /** Id of the entry that carries the handover request. */
  readonly from: string;
  readonly owner: string;
  readonly reason: string;
  readonly withinMs: number;
}

/**
 * The state of an entry that the bridge keeps for a page. Fencing tokens and order numbers are decimal
 * strings. `at` is the time of the snapshot, as in `Snapshot`.
 */
export type JoinSnapshot = { readonly at: number } & (
  | { readonly status: 'joining' }
  | {
      readonly status: 'queued';
      readonly id: string;
      readonly key: string;
      readonly order: string;
      /** Fencing token that the entry will have when it holds. */
      readonly token: string;
      /** Number of entries ahead of this one plus one: the entry with position 1 holds next. */
      readonly position: number;
      /** Estimated wait as of `at`, in milliseconds; left out while there is no estimate. */
      readonly expectedWaitMs?: number;
      /** Answer of the holder to the `request` of the join. */
      readonly answer?: { readonly answer: 'yields' | 'declined' | 'ignored'; readonly reason?: string };
    }
  | {
      /**
       * `held`: the bridge holds the lock for the page. `suspect`: it still holds, but one of its heartbeats
       * to the store is overdue.
       */
      readonly status: 'held' | 'suspect';
      readonly id: string;
      readonly key: string;
      readonly order: string;
      readonly token: string;
      /**
       * Remaining time of the bridge's own hold as of `at`, in milliseconds. The page's hold ends earlier,
       * when the time in the latest `TouchResponse` is over.
       */
      readonly remainingMs: number;
      readonly requests: readonly HandoverSnapshot[];
    }
  | {
      readonly status: 'ended';
      readonly outcome: 'released' | 'lost' | 'failed';
      readonly error?: WireError;
    }
);

/** Body of a touch: the joins to keep, with their secrets. */
export interface TouchRequest {
  readonly joins: readonly JoinKey[];
}

/** Response to a touch, with the state of each join. */
export interface TouchResponse {
  readonly joins: readonly {
    readonly id: string;
    /**
     * Time in milliseconds for which the bridge keeps the entry of this join, counted from when the touch was
     * *sent*, even if the connection breaks. If `holds` is true, the entry holds the lock, and the bridge
     * keeps the hold as long. Only an eviction ends the entry earlier. 0 means that the join has ended or is
     * not known.
     */
    readonly keepsMs: number;
    readonly holds: boolean;
    /** Whether the bridge knows the join. The outcome of an ended join is sent by a stream. */
    readonly known: boolean;
  }[];
}

/** Body of the requests that end or control a join. */
export interface JoinAct {
  readonly secret: string;
}

/** A holder's answer to a handover request. */
export interface JoinAnswer extends JoinAct {
  /** Id of the entry that carries the handover request. */
  readonly to: string;
  /** `yield`: release to the next waiter. `pass`: release to the requester ahead of other waiters. */
  readonly answer: 'yield' | 'pass' | 'decline';
  /** Reason that the requester is shown if the holder declines the request. */
  readonly reason?: string;
}

const text = v.string();
const short = v.pipe(text, v.maxLength(200));
const key = v.pipe(text, v.minLength(1), v.maxLength(64));
const number = v.number();
const ms = v.pipe(number, v.minValue(0), v.maxValue(2_147_483_647));

/** Schema of `JoinRequest`. */
export const joinRequestSchema: v.GenericSchema<JoinRequest> = v.strictObject({
  name: v.pipe(text, v.minLength(1), v.maxLength(512)),
  owner: v.exactOptional(v.pipe(short, v.minLength(1))),
  metadata: v.exactOptional(v.record(text, text)),
  mode: v.exactOptional(v.picklist(['exclusive', 'shared'])),
  timeoutMs: v.exactOptional(ms),
  request: v.exactOptional(handoverRequestSchema),
  key: v.exactOptional(
    v.strictObject({
      id: v.pipe(text, v.regex(/^[0-9a-f]{24}$/)),
      secret: v.pipe(text, v.regex(/^[\w-]{32,64}$/)),
    }),
  ),
});

/** Schema of `JoinResponse`. */
export const joinResponseSchema: v.GenericSchema<JoinResponse> = v.object({
  id: text,
  secret: text,
  graceMs: intervalSchema,
});

const entryState = { at: number, id: text, key: text, order: text, token: text };
const handover = v.object({ from: text, owner: text, reason: text, withinMs: number });
const response = v.object({
  answer: v.picklist(['yields', 'declined', 'ignored']),
  reason: v.exactOptional(text),
});

/** Schema of `JoinSnapshot`. */
export const joinSnapshotSchema: v.GenericSchema<JoinSnapshot> = v.variant('status', [
  v.object({ at: number, status: v.literal('joining') }),
  v.object({
    ...entryState,
    status: v.literal('queued'),
    position: number,
    expectedWaitMs: v.exactOptional(number),
    answer: v.exactOptional(response),
  }),
  v.object({
    ...entryState,
    status: v.picklist(['held', 'suspect']),
    remainingMs: number,
    requests: v.array(handover),
  }),
  v.object({
    at: number,
    status: v.literal('ended'),
    outcome: v.picklist(['released', 'lost', 'failed']),
    error: v.exactOptional(errorSchema),
  }),
]);

/** Schema of `TouchRequest`. */
export const touchRequestSchema: v.GenericSchema<TouchRequest> = v.strictObject({
  joins: v.pipe(v.array(v.strictObject({ id: key, secret: key })), v.minLength(1), v.maxLength(64)),
});

/** Schema of `TouchResponse`. */
export const touchResponseSchema: v.GenericSchema<TouchResponse> = v.object({
  joins: v.array(v.object({ id: text, keepsMs: number, holds: v.boolean(), known: v.boolean() })),
});

/** Schema of `JoinAct`. */
export const joinActSchema: v.GenericSchema<JoinAct> = v.strictObject({ secret: key });

/** Schema of `JoinAnswer`. */
export const joinAnswerSchema: v.GenericSchema<JoinAnswer> = v.strictObject({
  secret: key,
  to: key,
  answer: v.picklist(['yield', 'pass', 'decline']),
  reason: v.exactOptional(v.pipe(short, v.minLength(1))),
});
