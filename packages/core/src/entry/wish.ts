import { randomUUID } from 'node:crypto';
import type { EntryLabel } from './entry-value.ts';
import { encodeLabel } from './entry-value.ts';
import type { Limit } from './limit.ts';
import type { ClaimOptions } from '../api/options.ts';
import type { EntrySpec } from '../api/spi.ts';
import type { WaitLimit } from '../work/wait-limit.ts';
import { wallTime } from '../base/wall-time.ts';

/** What is asked for, checked and complete. */
export interface ClaimRequest {
  readonly queue: string;
  /** Of an entry that the session has already; by default a new one. */
  readonly id: string | undefined;
  readonly shared: boolean;
  readonly permits: number;
  readonly limit: Limit;
  /** What the entry tells, or stores as it is. */
  readonly label: EntryLabel | string;
  /** As its caller expects. */
  readonly typicalHoldMs: number | undefined;
  /** Of the hold, before it begins. */
  readonly minRemainingMs: number;
  /** A timeout of 0 joins only if nobody is ahead. */
  readonly patience: WaitLimit;
  readonly inLine: Pick<ClaimOptions, 'maxWaiters' | 'maxExpectedWaitMs' | 'steal' | 'request'>;
}

/** An entry to make, and what it tells. */
export interface Wish {
  readonly spec: EntrySpec;
  readonly label: EntryLabel | string;
}

/** Unguessable, unique for ever. */
export function newEntryId(): string {
  return randomUUID().replaceAll('-', '');
}

/** One entry for one attempt: an id of its own and what is known only now. */
export function wishOf(
  request: ClaimRequest,
  known: { readonly limit: number; readonly typicalHoldMs: number | undefined },
): Wish {
  const { queue, shared, permits } = request;
  const { limit, typicalHoldMs = request.typicalHoldMs } = known;
  const id = request.id ?? newEntryId();
  const label = typeof request.label === 'string' ? request.label : complete(request.label);
  return { label, spec: { queue, id, shared, limit, permits, value: encodeLabel(label) } };

  function complete(told: EntryLabel): EntryLabel {
    // Not a spread with more behind it, which takes Node 20 a hundred times as long.
    let whole: EntryLabel = Object.assign({}, told, { id, since: wallTime() });
    if (permits !== 1) whole = { ...whole, permits };
    if (limit !== 1) whole = { ...whole, limit };
    return typicalHoldMs === undefined ? whole : { ...whole, typicalHoldMs };
  }
}
