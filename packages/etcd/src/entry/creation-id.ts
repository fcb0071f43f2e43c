import { creationId } from '../queue/ahead.ts';
import type { Entry } from './entry.ts';

export function creationIdOf({ key, order }: Entry): string | undefined {
  return order === undefined ? undefined : creationId({ key, createRevision: order.toString() });
}
