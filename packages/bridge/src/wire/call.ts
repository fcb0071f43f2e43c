import * as v from 'valibot';
import { handoverRequestEntries, type WireHandoverRequest } from './handover.ts';
import { errorSchema, type WireError } from './error.ts';
import { MAX_NAME, WIRE_VERSION } from './topic.ts';
import { entryRefSchema, type EntryRef } from './queue.ts';

/** What a page has to know before anything else. */
export interface BridgeFacts {
  readonly version: number;
  /** Another one after every start of the bridge: joins of the one before are gone. */
  readonly epoch: string;
  /** To be sent as `TOKEN_HEADER` with everything that changes something. */
  readonly token: string;
  /** What the bridge looks at, for people. Without secrets. */
  readonly place: string;
  /** Who is asking, if the bridge knows. */
  readonly identity?: string;
  /** Whether this page may change something; each call is checked again. */
  readonly may: { readonly evict: boolean; readonly ask: boolean; readonly join: boolean };
  /** The queue in which the bridge has contenders that this page may disturb, if it has. */
  readonly contenders?: string;
}

/** The header that carries `BridgeFacts.token`. */
export const TOKEN_HEADER = 'queuelock-token';

/** Body of the request to remove an entry, named as it was seen. */
export interface EvictRequest {
  readonly name: string;
  readonly entry: EntryRef;
  /** For all to see. At most 200 characters together with the operator's name. */
  readonly reason: string;
}

/** Answer: whether it was there and was removed. */
export interface EvictResponse {
  readonly removed: boolean;
}

/** Body of the request to ask the holder to make way. */
export interface AskRequest extends WireHandoverRequest {
  readonly name: string;
}

/** What the holder answered. `released`: it left meanwhile. `free`: nobody held. */
export interface HandoverResponse {
  readonly answer: 'yields' | 'declined' | 'ignored' | 'released' | 'free';
  readonly reason?: string;
}

/** Body of the question for the fencing token of an entry. */
export interface TokenRequest {
  readonly name: string;
  readonly entry: Pick<EntryRef, 'key' | 'order'>;
}

/** Answer: decimal; left out when the entry is gone. */
export interface TokenResponse {
  readonly token?: string;
}

/** The first event of a stream. */
export interface Hello {
  readonly version: number;
  readonly epoch: string;
  /** The bridge's time, as in snapshots. */
  readonly now: number;
  /** So often at least something comes, and be it a comment. */
  readonly heartbeatMs: number;
}

/** The event `state`. Its `id` is the `since` of the next stream. */
export interface StateEvent {
  /** As `topicKey` names it. */
  readonly topic: string;
  /** The snapshot that belongs to the topic's kind. */
  readonly snapshot: unknown;
}

/** Tells that a topic of a stream is not told. */
export interface RefusedEvent {
  /** As `topicKey` names it. */
  readonly topic: string;
  readonly error: WireError;
}

const text = v.string();
const number = v.number();
const name = v.pipe(text, v.minLength(1), v.maxLength(MAX_NAME));
const reason = v.pipe(text, v.minLength(1), v.maxLength(200));

/** Checks facts. */
export const factsSchema: v.GenericSchema<BridgeFacts> = v.object({
  version: number,
  epoch: text,
  token: text,
  place: text,
  identity: v.exactOptional(text),
  may: v.object({ evict: v.boolean(), ask: v.boolean(), join: v.boolean() }),
  contenders: v.exactOptional(text),
});

/** Checks the request to remove an entry. */
export const evictRequestSchema: v.GenericSchema<EvictRequest> = v.strictObject({
  name,
  entry: entryRefSchema,
  reason,
});

/** Checks the answer to it. */
export const evictResponseSchema: v.GenericSchema<EvictResponse> = v.object({ removed: v.boolean() });

/** Checks the request to ask. */
export const askRequestSchema: v.GenericSchema<AskRequest> = v.strictObject({
  name,
  ...handoverRequestEntries,
});

/** Checks the answer to it. */
export const handoverResponseSchema: v.GenericSchema<HandoverResponse> = v.object({
  answer: v.picklist(['yields', 'declined', 'ignored', 'released', 'free']),
  reason: v.exactOptional(text),
});

/** Checks the question for a token. */
export const tokenRequestSchema: v.GenericSchema<TokenRequest> = v.strictObject({
  name,
  entry: v.object({ key: text, order: v.pipe(text, v.regex(/^-?\d{1,40}$/)) }),
});

/** Checks the answer to it. */
export const tokenResponseSchema: v.GenericSchema<TokenResponse> = v.object({ token: v.exactOptional(text) });

/** Checks the first event. */
export const helloSchema: v.GenericSchema<Hello> = v.object({
  version: v.literal(WIRE_VERSION),
  epoch: text,
  now: number,
  heartbeatMs: number,
});

/** Checks an event; its snapshot is checked by the schema of its kind. */
export const stateEventSchema: v.GenericSchema<StateEvent> = v.object({ topic: text, snapshot: v.unknown() });

/** Checks the refusal of a topic. */
export const refusedEventSchema: v.GenericSchema<RefusedEvent> = v.object({
  topic: text,
  error: errorSchema,
});
