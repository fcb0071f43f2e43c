import { expect } from 'chai';
import {
  conflictsAhead,
  contendersIn,
  distance,
  entryName,
  orderOf,
  nameBefore,
  otherLimitAhead,
  parseContender,
  isEntryOf,
  keptToken,
  readerOf,
  entriesIn,
} from '../src/queue/entries.ts';
import { schemeOf, type Naming } from '../src/queue/naming.ts';

const ID = '0123456789abcdef0123456789abcdef';
const UUID = '01234567-89ab-cdef-0123-456789abcdef';
const scheme = schemeOf('curator');

describe('names of entries in ZooKeeper', () => {
  it("have Curator's format, with the id as a UUID", () => {
    expect(entryName({ id: ID, shared: false, limit: 1 }, scheme)).to.equal(`_c_${UUID}-lock-`);
    expect(entryName({ id: ID, shared: true, limit: 1 }, scheme)).to.equal(`_c_${UUID}-shared-lock-`);
  });

  it('contain the permits and the limit, unless both are 1', () => {
    expect(entryName({ id: ID, shared: false, limit: 5 }, scheme)).to.equal(`_c_${UUID}-1of5-lock-`);
    expect(entryName({ id: ID, shared: false, limit: 5, permits: 2 }, scheme)).to.equal(
      `_c_${UUID}-2of5-lock-`,
    );
    expect(entryName({ id: ID, shared: true, limit: 5, permits: 2 }, scheme)).to.equal(
      `_c_${UUID}-shared-lock-`,
    );
  });

  for (const [name, permits] of [
    [`_c_${UUID}-2of5-lock-0000000001`, { permits: 2, limit: 5 }],
    [`_c_${UUID}-5of5-lock--000000005`, { permits: 5, limit: 5 }],
    [`_c_${UUID}-6of5-lock-0000000001`, {}],
    [`_c_${UUID}-0of5-lock-0000000001`, {}],
    [`_c_${UUID}-1of99999999999999999-lock-0000000001`, {}],

    [`_c_${UUID}-lock-0000000001`, {}],
    ['2of5-lock-0000000001', {}],
    [`x_c_${UUID}-2of5-lock-0000000001`, {}],
  ] as const) {
    it(`show the permits of an entry: ${name} contains ${'limit' in permits ? `${permits.permits} of ${permits.limit} permits` : 'no permits'}`, () => {
      const { sequence, shared } = parseContender(name, scheme)!;
      expect(parseContender(name, scheme)).to.deep.equal({ name, sequence, shared, ...permits });
    });
  }

  for (const [name, reader] of [
    [`_c_${UUID}-lock-0000000004`, `_c_${UUID}-since2a-shared-lock-0000000004`],
    [`_c_${UUID}-2of5-lock--2147483648`, `_c_${UUID}-since2a-shared-lock--2147483648`],
    [`_c_${UUID}-shared-lock-0000000004`, `_c_${UUID}-shared-lock-0000000004`],
  ] as const) {
    it(`change when a writer is converted to a reader: ${name} becomes ${reader}`, () => {
      expect(readerOf(name, 42n, scheme)).to.equal(reader);
      expect(isEntryOf(reader, name, scheme)).to.equal(true);
      expect(isEntryOf(reader.replace('4', '5'), name, scheme)).to.equal(false);
    });
  }

  const children: readonly (readonly [
    name: string,
    found: readonly [sequence: number, shared: boolean] | undefined,
  ])[] = [
    [`_c_${UUID}-lock-0000000000`, [0, false]],
    [`_c_${UUID}-lock-2147483647`, [2147483647, false]],
    [`_c_${UUID}-lock--2147483648`, [-2147483648, false]],
    [`_c_${UUID}-lock--000000005`, [-5, false]],
    [`_c_${UUID}-shared-lock-0000000001`, [1, true]],
    [`_c_${UUID}-__WRIT__0000000002`, undefined],
    ['lock-0000000003', [3, false]],
    ['x-lock-0000000004', [4, false]],
    ['lock-0000000009-lock-0000000005', [5, false]],
    [`_c_${UUID}-latch-0000000006`, undefined],
    [`_c_${UUID}-lease-0000000006`, undefined],
    [`${ID}__lock__0000000007`, undefined],
    [`${ID}__rlock__0000000007`, undefined],
    ['lock-0000000008x', undefined],
    ['lock-000000008', undefined],
    ['lock-00000000008', undefined],
    ['lock-9999999999', undefined],
    ['lock-', undefined],
    ['0000000001', undefined],
    ['invoices', undefined],
  ];

  for (const [name, found] of children) {
    it(`show whether a child is an entry: ${name} ${found ? `has the sequence number ${found[0]}${found[1] ? ' and is shared' : ''}` : 'is not an entry'}`, () => {
      expect(parseContender(name, scheme)).to.deep.equal(
        found && { name, sequence: found[0], shared: found[1] },
      );
    });
  }
});

describe('entries in ZooKeeper', () => {
  const spec = { id: ID, limit: 1 };
  const names: readonly (readonly [
    naming: Naming,
    exclusive: string,
    several: string,
    shared: string | undefined,
  ])[] = [
    ['curator', `_c_${UUID}-lock-`, `_c_${UUID}-2of5-lock-`, `_c_${UUID}-shared-lock-`],
    ['curator-read-write', `_c_${UUID}-__WRIT__`, `_c_${UUID}-2of5-__WRIT__`, `_c_${UUID}-__READ__`],
    ['curator-latch', `_c_${UUID}-latch-`, `_c_${UUID}-2of5-latch-`, undefined],
    ['curator-lease', `_c_${UUID}-lease-`, `_c_${UUID}-2of5-lease-`, undefined],
    ['kazoo', `${ID}__lock__`, `${ID}-2of5-__lock__`, `${ID}__rlock__`],
    ['curator+kazoo', `_c_${UUID}-lock-`, `_c_${UUID}-2of5-lock-`, `_c_${UUID}-shared-lock-`],
  ];
  for (const [naming, exclusive, several, shared] of names) {
    const its = schemeOf(naming);
    const read = (name: string) => parseContender(`${name}0000000007`, its);

    it(`with naming ${naming} are named ${exclusive}${shared ? ` and ${shared}` : ''}, and found by their id`, () => {
      expect(entryName({ ...spec, shared: false }, its)).to.equal(exclusive);
      expect(entryName({ ...spec, shared: false, limit: 5, permits: 2 }, its)).to.equal(several);
      expect(its.style.prefix(ID)).to.satisfy((prefix: string) => exclusive.startsWith(prefix));
      if (shared) expect(entryName({ ...spec, shared: true }, its)).to.equal(shared);
    });

    it(`with naming ${naming} are restored exactly when their names are parsed`, () => {
      expect(read(exclusive)).to.include({ sequence: 7, shared: false });
      expect(read(several)).to.include({ sequence: 7, shared: false, permits: 2, limit: 5 });
      if (!shared) return;
      expect(read(shared)).to.deep.equal({ name: `${shared}0000000007`, sequence: 7, shared: true });
    });

    it(`with naming ${naming} keep their tokens when they are converted to readers`, () => {
      expect(keptToken(`${exclusive}0000000007`, its)).to.equal(undefined);
      if (!shared) return;
      expect(keptToken(`${shared}0000000007`, its)).to.equal(undefined);
      for (const token of [1n, 2n ** 53n]) {
        const reader = readerOf(`${exclusive}0000000007`, token, its);
        expect(reader).to.satisfy((name: string) => name.startsWith(its.style.prefix(ID)));
        expect(parseContender(reader, its)).to.deep.equal({ name: reader, sequence: 7, shared: true });
        expect(keptToken(reader, its)).to.equal(token);
        expect(readerOf(`${several}0000000007`, token, its)).to.equal(reader);
        expect(keptToken(`x${reader}`, its)).to.equal(undefined);
      }
    });
  }

  const foreign = [
    'lock-',
    'shared-lock-',
    '__READ__',
    '__WRIT__',
    'latch-',
    'lease-',
    '__lock__',
    '__rlock__',
    '__fast__',
  ];
  for (const [naming, counted] of [
    ['curator', ['lock-', 'shared-lock-']],
    ['curator-read-write', ['__READ__', '__WRIT__']],
    ['curator-latch', ['latch-']],
    ['curator-lease', foreign],
    ['kazoo', ['__lock__', '__rlock__']],
    ['fast', ['__fast__']],
    ['curator+kazoo', ['lock-', 'shared-lock-', '__lock__']],
  ] as const) {
    it(`with naming ${naming} are the children whose names contain one of: ${counted.join(', ')}`, () => {
      const its = schemeOf(naming);
      const read = (before: string): string[] =>
        foreign.filter((mark) => parseContender(`${before}${mark}0000000003`, its));
      expect(read(`_c_${UUID}-`)).to.deep.equal(counted);
      expect(read(ID)).to.deep.equal(counted);
    });
  }

  it('with naming fast have names that differ only in their numbers', () => {
    const fast = schemeOf('fast');
    expect(entryName({ ...spec, shared: false }, fast)).to.equal('__fast__');
    for (const [sequence, before] of [
      [43, '0000000042'],
      [0, '-000000001'],
      [-1, '-000000002'],
      [-2147483648, '2147483647'],
      [-2147483647, '-2147483648'],
    ] as const) {
      expect(nameBefore(sequence, fast)).to.equal(`__fast__${before}`);
      expect(parseContender(`__fast__${before}`, fast)?.sequence).to.equal((sequence - 1) | 0);
    }
  });

  it('with naming curator-lease include children without a number, ahead of all others', () => {
    const its = schemeOf('curator-lease');
    const children = [`_c_${UUID}-lease-0000000002`, ID, `_c_${UUID}-1of3-lease-0000000001`, 'anything'];
    const own = parseContender(children[0]!, its)!;
    const ahead = conflictsAhead(contendersIn(children, its), own);
    expect(ahead.map(({ name, sequence }) => [name, sequence])).to.deep.equal([
      [children[2], 1],
      ['anything', undefined],
      [ID, undefined],
    ]);
    expect(otherLimitAhead(ahead, { own, limit: 3, scheme: its })).to.equal(undefined);
    expect(otherLimitAhead(ahead, { own, limit: 4, scheme: its })).to.equal(3);
    expect(ahead.map(({ sequence }) => orderOf(sequence))).to.deep.equal([1n, -1n, -1n]);
  });
});

describe('the order of entries in ZooKeeper', () => {
  const lock = (sequence: string, kind = 'lock-'): string => `_c_${UUID}-${kind}${sequence}`;
  const own = (name: string) => parseContender(name, scheme)!;

  it('continues across the wrap of the 32-bit sequence number', () => {
    const names = [lock('-2147483647'), lock('2147483646'), lock('-2147483648'), lock('2147483647')];
    expect(contendersIn(names, scheme).map(({ sequence }) => sequence)).to.deep.equal([
      2147483646, 2147483647, -2147483648, -2147483647,
    ]);
    expect(contendersIn([...names].reverse(), scheme).map(({ sequence }) => sequence)).to.deep.equal([
      2147483646, 2147483647, -2147483648, -2147483647,
    ]);
  });

  it('continues from the sequence number -1 to 0', () => {
    const names = [lock('0000000000'), lock('-000000001'), lock('0000000001')];
    expect(contendersIn(names, scheme).map(({ sequence }) => sequence)).to.deep.equal([-1, 0, 1]);
  });

  it('puts the entry before a wrap of the sequence number ahead of the entry after it', () => {
    const [before, after] = [lock('2147483647'), lock('-2147483648')];
    expect(
      conflictsAhead(contendersIn([before, after], scheme), own(after)).map(({ name }) => name),
    ).to.deep.equal([before]);
    expect(conflictsAhead(contendersIn([before, after], scheme), own(before))).to.deep.equal([]);
    expect(distance(2147483647, -2147483648)).to.equal(1);
    expect(distance(-2147483648, 2147483647)).to.equal(-1);
  });

  it('is expressed by a number that also grows when the sequence number wraps', () => {
    expect([0, 2147483647, -2147483648, -1].map(orderOf)).to.deep.equal([
      0n,
      2147483647n,
      2147483648n,
      4294967295n,
    ]);
  });

  it('puts a writer ahead of the reader to which it is being converted', () => {
    const names = [lock('0000000004', 'shared-lock-'), lock('0000000004'), lock('0000000003')];
    expect(contendersIn(names, scheme).map(({ name }) => name)).to.deep.equal([names[2], names[1], names[0]]);
  });

  it('omits a writer that is being converted as soon as the entry of the reader exists', () => {
    const names = [
      lock('0000000004', 'shared-lock-'),
      lock('0000000004'),
      lock('0000000005'),
      lock('0000000003'),
    ];
    expect(entriesIn(names, scheme).map(({ name }) => name)).to.deep.equal([names[3], names[0], names[2]]);
    expect(entriesIn(names.slice(1), scheme).map(({ name }) => name)).to.deep.equal([
      names[3],
      names[1],
      names[2],
    ]);
  });

  it('gives an exclusive entry the nearest limit ahead of it that differs from its own limit', () => {
    const five = '5of5-lock-';
    const names = [lock('0000000001', five), lock('0000000002'), lock('0000000003', 'shared-lock-')];
    const [exclusive, shared] = [own(lock('0000000009', five)), own(lock('0000000009', 'shared-lock-'))];
    const other = (of: typeof exclusive, limit: number): number | undefined =>
      otherLimitAhead(conflictsAhead(contendersIn(names, scheme), of), { own: of, limit, scheme });
    expect([1, 5, 7].map((limit) => other(exclusive, limit))).to.deep.equal([5, 1, 1]);
    const readers = conflictsAhead(contendersIn([names[2]!], scheme), exclusive);
    expect([1, 5].map((limit) => otherLimitAhead(readers, { own: exclusive, limit, scheme }))).to.deep.equal([
      undefined,
      1,
    ]);
    expect(other(shared, 7)).to.equal(undefined);
    expect(otherLimitAhead([], { own: exclusive, limit: 5, scheme })).to.equal(undefined);
  });

  const queue = [
    lock('0000000001', 'shared-lock-'),
    lock('0000000002'),
    lock('0000000003', 'shared-lock-'),
    lock('0000000004'),
    lock('0000000005', 'shared-lock-'),
    'invoices',
    '!note',
  ];
  for (const [name, ahead] of [
    [queue[0]!, []],
    [queue[1]!, [queue[0]]],
    [queue[2]!, [queue[1]]],
    [queue[3]!, [queue[2], queue[1], queue[0]]],
    [queue[4]!, [queue[3], queue[1]]],
  ] as const) {
    it(`puts ${ahead.length} conflicting entries ahead of the entry ${name.slice(40)}, nearest first`, () => {
      expect(conflictsAhead(contendersIn(queue, scheme), own(name)).map((entry) => entry.name)).to.deep.equal(
        ahead,
      );
    });
  }
});
