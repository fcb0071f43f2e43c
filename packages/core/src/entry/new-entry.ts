import { randomUUID } from 'node:crypto';
import type { EntryLabel } from './entry-value.ts';
import { encodeLabel } from './entry-value.ts';
import type { Limit } from './limit.ts';
import type { ClaimOptions } from '../api/options.ts';
import type { EntrySpec } from '../api/spi.ts';
import type { WaitLimit } from '../work/wait-limit.ts';
import { wallTime } from '../base/wall-time.ts';

/** A validated and complete claim request. */
export interface ClaimRequest {
  readonly queue: string;
  /** Id of an existing entry of the session that the claim takes over. `undefined` for a new entry. */
  readonly id: string | undefined;
  readonly shared: boolean;
  readonly permits: number;
  readonly limit: Limit;
  /** The label that the entry stores, or the text of the option `value`, which the entry stores instead. */
  readonly label: EntryLabel | string;
  /** The hold time that the caller expects, in milliseconds. */
  readonly typicalHoldMs: number | undefined;
  /** Minimum proven time before the hold begins, in milliseconds. */
  readonly minRemainingMs: number;
  /** The signal and the timeout of the wait. A timeout of 0 joins only if no conflicting entry is ahead. */
  readonly waitLimit: WaitLimit;
  readonly inLine: Pick<ClaimOptions, 'maxWaiters' | 'maxExpectedWaitMs' | 'steal' | 'request'>;
}

/** The spec of an entry to create, and its label. */
export interface NewEntry {
  readonly spec: EntrySpec;
  readonly label: EntryLabel | string;
}

/** Creates an unguessable id that is never reused. */
export function newEntryId(): string {
  return randomUUID().replaceAll('-', '');
}

/** Creates the spec and label for one attempt, with a new id and the current time. */
export function newEntryOf(
  request: ClaimRequest,
  known: { readonly limit: number; readonly typicalHoldMs: number | undefined },
): NewEntry {
  const { queue, shared, permits } = request;
  const { limit, typicalHoldMs = request.typicalHoldMs } = known;
  const id = request.id ?? newEntryId();
  const label = typeof request.label === 'string' ? request.label : complete(request.label);
  return { label, spec: { queue, id, shared, limit, permits, value: encodeLabel(label) } };

  function complete(reported: EntryLabel): EntryLabel {
    // Uses Object.assign, because Node 20 needs a hundred times as long for a spread that is followed by
    // further properties.
    let whole: EntryLabel = Object.assign({}, reported, { id, since: wallTime() });
    if (permits !== 1) whole = { ...whole, permits };
    if (limit !== 1) whole = { ...whole, limit };
    return typicalHoldMs === undefined ? whole : { ...whole, typicalHoldMs };
  }
}
