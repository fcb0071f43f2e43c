import { expect } from 'chai';
import { replayed } from '../src/views/replayed.ts';
import type { PastChange } from '../src/api/store-facts.ts';

type ChangeSpec = readonly [
  revision: number,
  kind: PastChange['kind'],
  who: string,
  more?: { readonly shared?: boolean; readonly value?: string },
];

/**
 * Creates an entry. Its key is the text `who`, and its order number is the code of the first letter of that
 * text.
 */
function seen(who: string, { shared = false, value = who }: ChangeSpec[3] = {}): PastChange['entry'] {
  return { key: who, order: BigInt(who.charCodeAt(0)), shared, value };
}

function story(before: readonly string[], ...changes: readonly ChangeSpec[]): string[] {
  const stored = {
    before: before.map((who) => seen(who)),
    changes: changes.map(([revision, kind, who, more]) => ({
      revision: BigInt(revision),
      kind,
      entry: seen(who, more),
    })),
    gaps: ['a gap'],
  };
  const history = replayed('q', stored);
  expect(history.before.map(({ owner }) => owner)).to.deep.equal(before);
  expect(history).to.include({ name: 'q' }).and.have.deep.property('gaps', ['a gap']);
  return history.changes.map(
    ({ revision, kind, entry, held }) => `${revision} ${kind} ${entry.owner}${held ? ' held' : ''}`,
  );
}

describe('a replayed history', () => {
  it('shows when each entry was admitted', () => {
    expect(
      story([], [2, 'joined', 'a'], [3, 'joined', 'b'], [4, 'left', 'a'], [5, 'left', 'b']),
    ).to.deep.equal([
      '2 joined a',
      '2 granted a held',
      '3 joined b',
      '4 left a held',
      '4 granted b held',
      '5 left b held',
    ]);
  });

  it('starts with the entries before the first change', () => {
    expect(story(['a', 'b', 'c'], [9, 'left', 'b'], [10, 'left', 'a'])).to.deep.equal([
      '9 left b',
      '10 left a held',
      '10 granted c held',
    ]);
  });

  it('treats all changes of one revision of the store as simultaneous', () => {
    expect(story(['a', 'b', 'c'], [9, 'left', 'a'], [9, 'left', 'b'])).to.deep.equal([
      '9 left a held',
      '9 left b',
      '9 granted c held',
    ]);
  });

  it('lets readers hold together, including a reader that was a writer before', () => {
    const shared = { shared: true };
    const changes: ChangeSpec[] = [
      [3, 'joined', 'b', shared],
      [4, 'changed', 'a', shared],
      [5, 'joined', 'c'],
    ];
    expect(story(['a'], ...changes)).to.deep.equal([
      '3 joined b',
      '4 changed a held',
      '4 granted b held',
      '5 joined c',
    ]);
  });
});
