import type { FuzzTarget } from '@queuelock/harness/fuzz/target';
import { escapeControls, toPrintable } from '../../src/base/printable.ts';
import {
  decodeLabel,
  encodeLabel,
  labelFromOwner,
  labelOfOwner,
  toEntry,
} from '../../src/entry/entry-value.ts';

const LABEL = {
  owner: 'worker-1',
  metadata: { order: '17' },
  id: '2744852b9d746afb1a07176a71335107',
  host: 'h',
  pid: 236,
  instance: '0123456789ab',
  since: 1_795_772_444_916,
  permits: 2,
  limit: 3,
  holds: ['a', 'b'],
  typicalHoldMs: 500,
  request: { reason: 'deploy', withinMs: 1_000 },
};
const OWNED = '{"owner":"a","owned":true}';
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const MAX_OWNER = 1_024;
const MAX_SHOWN = 200;

/**
 * Returns a fuzz target that decodes each input as the stored text of an entry (its label). Any client of the
 * store can write such texts.
 */
export function open(): FuzzTarget {
  const texts = [JSON.stringify(LABEL), OWNED, 'etcdctl'];
  return { corpus: texts.map((text) => Buffer.from(text)), isJson: true, run };
}

function run(input: Buffer): void {
  const text = input.toString();
  readLabel(text);
  for (const shown of [escapeControls(text), toPrintable(text)])
    if (HIDDEN.test(shown)) throw new Error('a control character is left');
  if (toPrintable(text).length > MAX_SHOWN) throw new Error('the printable text is too long');
}

function readLabel(text: string): void {
  const entry = toEntry({ key: 'k', order: 1n, shared: false, value: text });
  JSON.stringify(entry);
  if (entry.owner.length > MAX_OWNER) throw new Error('the owner is too long');
  if (!(entry.permits >= 1 && entry.limit >= 1)) throw new Error('an entry takes no permits');
  const { shared = false, ...label } = decodeLabel(text);
  try {
    encodeLabel({ ...label, shared });
  } catch (error) {
    if (!(error instanceof Error && /INVALID_ARGUMENT/.test(error.message))) throw error;
  }
  const owned = labelOfOwner(text);
  if (owned !== undefined && labelFromOwner(owned) !== text)
    throw new Error('the label of an owner is another one');
}
