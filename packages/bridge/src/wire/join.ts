import * as v from 'valibot';
import { handoverRequestSchema, type WireHandoverRequest } from './handover.ts';
import { errorSchema, type WireError } from './error.ts';

/** Body of the request for a place in a queue. */
export interface JoinRequest {
  readonly name: string;
  /** Shown to everybody, unless the bridge knows who it is. */
  readonly owner?: string;
  /** Shown to everybody: never a secret. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Default `exclusive`. */
  readonly mode?: 'exclusive' | 'shared';
  /** Longest wait in milliseconds. Default: for ever. */
  readonly timeoutMs?: number;
  /** Asks the holder to make way, as `ask` does: it needs the same permission, and counts among the same requests. */
  readonly request?: WireHandoverRequest;
  /** Chosen by the page, at random: so the same request may be sent again when its answer was lost. Default: the bridge chooses. */
  readonly key?: JoinKey;
}

/** Names a join. */
export interface JoinKey {
  /** 24 hexadecimal digits. */
  readonly id: string;
  /** 32 to 64 letters, digits, `-`, `_`. Whoever has it can act as the one who joined. */
  readonly secret: string;
}

/** What the maker of a join has to know to keep it. */
export interface JoinResponse extends JoinKey {
  /** The bridge leaves the queue, or releases, when it has not heard of the page for so long: no stream, no touch. */
  readonly graceMs: number;
}

/** What was asked of a holder that came through the bridge, and waits for an answer. */
export interface HandoverSnapshot {
  /** The `id` of the entry that asks. */
  readonly from: string;
  readonly owner: string;
  readonly reason: string;
  readonly withinMs: number;
}

/** A place that was taken through the bridge. Tokens and orders are decimal. `at` as in `Snapshot`. */
export type JoinSnapshot = { readonly at: number } & (
  | { readonly status: 'joining' }
  | {
      readonly status: 'queued';
      readonly id: string;
      readonly key: string;
      readonly order: string;
      /** The one that it will have. */
      readonly token: string;
      /** 1: it is next. */
      readonly position: number;
      /** As of `at`; left out while nothing is known. */
      readonly expectedWaitMs?: number;
      /** With a `request`: what the holder said. */
      readonly answer?: { readonly answer: 'yields' | 'declined' | 'ignored'; readonly reason?: string };
    }
  | {
      /** `suspect`: still held, but a heartbeat of the bridge is overdue. */
      readonly status: 'held' | 'suspect';
      readonly id: string;
      readonly key: string;
      readonly order: string;
      readonly token: string;
      /** Of the bridge's own hold, as of `at`. A page holds no longer than the bridge has promised to keep it: see `TouchResponse`. */
      readonly remainingMs: number;
      readonly requests: readonly HandoverSnapshot[];
    }
  | {
      readonly status: 'ended';
      readonly outcome: 'released' | 'lost' | 'failed';
      readonly error?: WireError;
    }
);

/** Names joins, with their secrets. */
export interface TouchRequest {
  readonly joins: readonly JoinKey[];
}

/** Answer to a touch. */
export interface TouchResponse {
  readonly joins: readonly {
    readonly id: string;
    /**
     * For so long from the moment when the touch was *sent* the bridge keeps the place, and the hold if `holds`, whatever becomes of the
     * connection; unless somebody else removes it. 0: it has ended, or is not known.
     */
    readonly keepsMs: number;
    readonly holds: boolean;
    /** Whether the bridge knows the join. How it has ended, if it has, is told by a stream. */
    readonly known: boolean;
  }[];
}

/** Body of the requests that end a join or answer on its behalf. */
export interface JoinAct {
  readonly secret: string;
}

/** A holder's answer to one who asks. */
export interface JoinAnswer extends JoinAct {
  /** The `id` of the entry that asks. */
  readonly to: string;
  /** `yield`: to the next in line. `pass`: straight to the one who asks. Both release. */
  readonly answer: 'yield' | 'pass' | 'decline';
  /** With `decline`: why. */
  readonly reason?: string;
}

const text = v.string();
const short = v.pipe(text, v.maxLength(200));
const key = v.pipe(text, v.minLength(1), v.maxLength(64));
const number = v.number();
const ms = v.pipe(number, v.minValue(0), v.maxValue(2_147_483_647));

/** Checks the request for a place. */
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

/** Checks what a maker of a join is told. */
export const joinResponseSchema: v.GenericSchema<JoinResponse> = v.object({
  id: text,
  secret: text,
  graceMs: number,
});

const place = { at: number, id: text, key: text, order: text, token: text };
const handover = v.object({ from: text, owner: text, reason: text, withinMs: number });
const answer = v.object({
  answer: v.picklist(['yields', 'declined', 'ignored']),
  reason: v.exactOptional(text),
});

/** Checks a place. */
export const joinSnapshotSchema: v.GenericSchema<JoinSnapshot> = v.variant('status', [
  v.object({ at: number, status: v.literal('joining') }),
  v.object({
    ...place,
    status: v.literal('queued'),
    position: number,
    expectedWaitMs: v.exactOptional(number),
    answer: v.exactOptional(answer),
  }),
  v.object({
    ...place,
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

/** Checks a touch. */
export const touchRequestSchema: v.GenericSchema<TouchRequest> = v.strictObject({
  joins: v.pipe(v.array(v.strictObject({ id: key, secret: key })), v.minLength(1), v.maxLength(64)),
});

/** Checks the answer to a touch. */
export const touchResponseSchema: v.GenericSchema<TouchResponse> = v.object({
  joins: v.array(v.object({ id: text, keepsMs: number, holds: v.boolean(), known: v.boolean() })),
});

/** Checks the end of a join. */
export const joinActSchema: v.GenericSchema<JoinAct> = v.strictObject({ secret: key });

/** Checks a holder's answer. */
export const joinAnswerSchema: v.GenericSchema<JoinAnswer> = v.strictObject({
  secret: key,
  to: key,
  answer: v.picklist(['yield', 'pass', 'decline']),
  reason: v.exactOptional(v.pipe(short, v.minLength(1))),
});
