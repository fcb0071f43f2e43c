import type { Ownership } from './hold-api.ts';
import { inJson } from '../base/jsonable.ts';

/**
 * Returns what `JSON.stringify` shows of an ownership: its identity, and its state at that moment. The key is left out, since reading it has an
 * effect (see `SharedOwnership.key`) and logging should have none.
 */
export function ownershipInJson(own: Ownership): object {
  const { name, id, order, token, grantToken, shared, limit, permits, depth, held, remainingMs } = own;
  const shown = { name, id, order, token, grantToken, shared, limit, permits, depth, held, remainingMs };
  return Object.fromEntries(Object.entries(shown).map(([member, part]) => [member, inJson(part)]));
}
