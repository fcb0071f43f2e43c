import * as v from 'valibot';
import { handoverRequestEntries, type WireHandoverRequest } from './handover.ts';
import { errorSchema, type WireError } from './error.ts';
import { intervalSchema } from './interval.ts';
import { MAX_NAME, WIRE_VERSION } from './topic.ts';
import { entryRefSchema, type EntryRef } from './queue.ts';

/**
 * Facts about the bridge that a page reads first: the token for its writes, the description of the store, and
 * what the page may do, for instance.
 */
export interface BridgeFacts {
  readonly version: number;
  /**
   * Id of one run of the bridge's process, different after each start. Joins of an earlier run have ended.
   */
  readonly epoch: string;
  /** The bridge's token, which a page sends in the header `queuelock-token` with every write. */
  readonly token: string;
  /** Description of the store for display, without secrets. */
  readonly storeLabel: string;
  /** Name of the user who requested the facts, if the bridge knows it. */
  readonly identity?: string;
  /** The actions that this page may do, for display. Each request is checked again. */
  readonly may: { readonly evict: boolean; readonly ask: boolean; readonly join: boolean };
  /** Queue of the demo programs that this page may disturb, if there are any. */
  readonly contenders?: string;
}

/** Header in which a page sends the bridge's token, `BridgeFacts.token`. */
export const TOKEN_HEADER = 'queuelock-token';

/** Body of the request to evict an entry. */
export interface EvictRequest {
  readonly name: string;
  readonly entry: EntryRef;
  /** Reason, shown to all users. With the operator's name it may have at most 200 characters. */
  readonly reason: string;
}

/** Response to an eviction: whether the entry was in the queue and was removed. */
export interface EvictResponse {
  readonly removed: boolean;
}

/** Body of a handover request to the holder. */
export interface AskRequest extends WireHandoverRequest {
  readonly name: string;
}

/**
 * Result of a handover request. `released`: the holder released before it answered. `free`: no client held
 * the lock.
 */
export interface HandoverResponse {
  readonly answer: 'yields' | 'declined' | 'ignored' | 'released' | 'free';
  readonly reason?: string;
}

/** Body of the request for the fencing token of an entry. */
export interface TokenRequest {
  readonly name: string;
  readonly entry: Pick<EntryRef, 'key' | 'order'>;
}

/** Response with the token as a decimal string. The token is left out when the entry was removed. */
export interface TokenResponse {
  readonly token?: string;
}

/** The first event that the bridge sends in a stream. */
export interface Hello {
  readonly version: number;
  readonly epoch: string;
  /** The bridge's time in milliseconds since 1970, as in snapshots. */
  readonly now: number;
  /** Longest time in milliseconds without data on the stream. A comment counts as data. */
  readonly heartbeatMs: number;
}

/**
 * The event `state`, which contains a snapshot. A client that reconnects sends the latest `id` of such an
 * event as the `since` of its topic.
 */
export interface StateEvent {
  /** Key of the topic, as `topicKey` returns it. */
  readonly topic: string;
  /** The snapshot of the topic. Its properties depend on the kind of the topic. */
  readonly snapshot: unknown;
}

/** Event by which the bridge refuses one topic of a stream. */
export interface RefusedEvent {
  /** Key of the topic, as `topicKey` returns it. */
  readonly topic: string;
  readonly error: WireError;
}

const text = v.string();
const number = v.number();
const name = v.pipe(text, v.minLength(1), v.maxLength(MAX_NAME));
const reason = v.pipe(text, v.minLength(1), v.maxLength(200));

/** Schema of `BridgeFacts`. */
export const factsSchema: v.GenericSchema<BridgeFacts> = v.object({
  version: number,
  epoch: text,
  token: text,
  storeLabel: text,
  identity: v.exactOptional(text),
  may: v.object({ evict: v.boolean(), ask: v.boolean(), join: v.boolean() }),
  contenders: v.exactOptional(text),
});

/** Schema of `EvictRequest`. */
export const evictRequestSchema: v.GenericSchema<EvictRequest> = v.strictObject({
  name,
  entry: entryRefSchema,
  reason,
});

/** Schema of `EvictResponse`. */
export const evictResponseSchema: v.GenericSchema<EvictResponse> = v.object({ removed: v.boolean() });

/** Schema of `AskRequest`. */
export const askRequestSchema: v.GenericSchema<AskRequest> = v.strictObject({
  name,
  ...handoverRequestEntries,
});

/** Schema of `HandoverResponse`. */
export const handoverResponseSchema: v.GenericSchema<HandoverResponse> = v.object({
  answer: v.picklist(['yields', 'declined', 'ignored', 'released', 'free']),
  reason: v.exactOptional(text),
});

/** Schema of `TokenRequest`. */
export const tokenRequestSchema: v.GenericSchema<TokenRequest> = v.strictObject({
  name,
  entry: v.object({ key: text, order: v.pipe(text, v.regex(/^-?\d{1,40}$/)) }),
});

/** Schema of `TokenResponse`. */
export const tokenResponseSchema: v.GenericSchema<TokenResponse> = v.object({ token: v.exactOptional(text) });

/** Schema of `Hello`. */
export const helloSchema: v.GenericSchema<Hello> = v.object({
  version: v.literal(WIRE_VERSION),
  epoch: text,
  now: number,
  heartbeatMs: intervalSchema,
});

/** Schema of `StateEvent`; the snapshot is validated by the schema of its kind. */
export const stateEventSchema: v.GenericSchema<StateEvent> = v.object({ topic: text, snapshot: v.unknown() });

/** Schema of `RefusedEvent`. */
export const refusedEventSchema: v.GenericSchema<RefusedEvent> = v.object({
  topic: text,
  error: errorSchema,
});
