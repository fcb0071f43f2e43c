import { creationIdOfText } from '../queue/ahead.ts';
import type { Entry } from './entry.ts';

export function creationIdOf({ keyText, order }: Entry): string | undefined {
  return order === undefined ? undefined : creationIdOfText(keyText, order.toString());
}
