import type { FuzzTarget } from '@queuelock/harness/fuzz/target';
import { entriesIn, entryName } from '../../src/queue/entries.ts';
import { schemeOf } from '../../src/queue/naming.ts';
import { hasId, valueIn } from '../../src/queue/node-text.ts';

const ID = '2744852b9d746afb1a07176a71335107';
const NAMINGS = ['curator', 'curator-read-write', 'kazoo'] as const;

/** Names and contents of the nodes below a queue, which any client may have created. */
export function open(): FuzzTarget {
  const names = NAMINGS.flatMap((naming) => {
    const scheme = schemeOf(naming);
    const spec = { id: ID, limit: 3, permits: 2 };
    return [entryName({ ...spec, shared: false }, scheme), entryName({ ...spec, shared: true }, scheme)];
  });
  const children = names.map((name, index) => `${name}${String(index).padStart(10, '0')}`);
  return { corpus: [children.join('\n'), ...children].map((text) => Buffer.from(text)), run };
}

function run(input: Buffer): void {
  const text = input.toString();
  const children = text.split('\n');
  for (const naming of NAMINGS) {
    const scheme = schemeOf(naming);
    const entries = entriesIn(children, scheme);
    if (entries.length > children.length) throw new Error('more entries than children');
    for (const { permits = 1, limit = 1 } of entries)
      if (!(permits >= 1 && limit >= permits))
        throw new Error('an entry takes no permits, or more than its limit');
    valueIn(text, scheme);
  }
  hasId(text, ID);
}
