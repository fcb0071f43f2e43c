import {
  decodeLabel,
  encodeLabel,
  labelFromOwner,
  labelOfOwner,
  toEntry,
} from '../../../packages/core/src/entry/entry-value.ts';
import { escapeControls, toPrintable } from '../../../packages/core/src/base/printable.ts';
import { contenderOf } from '../../../packages/consul/src/queue/entries.ts';
import { entriesIn, entryName } from '../../../packages/zookeeper/src/queue/entries.ts';
import { schemeOf } from '../../../packages/zookeeper/src/queue/naming.ts';
import { hasId, valueIn } from '../../../packages/zookeeper/src/queue/node-text.ts';
import type { FuzzTarget } from '../target.ts';

const LABEL = {
  owner: 'worker-1',
  metadata: { order: '17' },
  id: '2744852b9d746afb1a07176a71335107',
  host: 'h',
  pid: 236,
  since: 1_795_772_444_916,
  permits: 2,
  limit: 3,
  holds: ['a', 'b'],
  typicalHoldMs: 500,
  request: { reason: 'deploy', withinMs: 1_000 },
  heard: ['x'],
  answers: [{ to: 'x', answer: { answer: 'declined', reason: 'busy' } }],
};
const OWNED = '{"owner":"a","owned":true}';
const ID = '2744852b9d746afb1a07176a71335107';
const STYLES = ['curator', 'curator-read-write', 'kazoo'] as const;
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const MAX_OWNER = 1_024;
const MAX_SHOWN = 200;

/** What another client of the store may have written into an entry: its value, and its name. */
export function open(): FuzzTarget {
  const texts = [
    JSON.stringify(LABEL),
    OWNED,
    'etcdctl',
    JSON.stringify({ shared: true, limit: 1, permits: 1, value: '{}' }),
  ];
  const names = STYLES.map((style) =>
    entryName({ id: ID, shared: false, limit: 3, permits: 2 }, schemeOf(style)),
  );
  return {
    corpus: [...texts, ...names.map((name) => `${name}0000000012`)].map((text) => Buffer.from(text)),
    isJson: true,
    run,
  };
}

function run(input: Buffer): void {
  const text = input.toString();
  readLabel(text);
  readNames(text);
  for (const shown of [escapeControls(text), toPrintable(text)])
    if (HIDDEN.test(shown)) throw new Error('a control character is left');
  if (toPrintable(text).length > MAX_SHOWN) throw new Error('the printable text is too long');
  const contender = contenderOf({
    key: `q/${ID}`,
    text,
    session: undefined,
    createIndex: 1n,
    modifyIndex: 1n,
    flags: 0,
  });
  if (!(contender.limit >= 1) || !(contender.permits >= 1)) throw new Error('a contender takes no permits');
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

function readNames(text: string): void {
  const children = text.split('\n');
  for (const style of STYLES) {
    const scheme = schemeOf(style);
    if (entriesIn(children, scheme).length > children.length) throw new Error('more entries than children');
    valueIn(text, scheme);
  }
  hasId(text, ID);
}
