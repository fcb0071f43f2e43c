import type { Ownership } from './hold-api.ts';
import { inJson } from '../base/jsonable.ts';

/** What `JSON.stringify` shows of an ownership: what it is, and how it stands at that moment. */
export function ownershipInJson(own: Ownership): object {
  const { name, id, key, order, token, grantToken, shared, limit, permits, depth, held, remainingMs } = own;
  const shown = { name, id, key, order, token, grantToken, shared, limit, permits, depth, held, remainingMs };
  return Object.fromEntries(Object.entries(shown).map(([member, part]) => [member, inJson(part)]));
}
