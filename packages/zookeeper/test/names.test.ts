import { isQueueLockError } from '@queuelock/core/backend';
import { expect } from 'chai';
import {
  conflictsAhead,
  contendersIn,
  distance,
  entryName,
  orderOf,
  otherLimitAhead,
  parseContender,
  queuePath,
  readerOf,
  registerPaths,
  standingIn,
} from '../src/names.ts';

const ID = '0123456789abcdef0123456789abcdef';
const UUID = '01234567-89ab-cdef-0123-456789abcdef';

function code(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return isQueueLockError(error) ? error.code : String(error);
  }
  return 'no error';
}

describe('names of queues', () => {
  const paths: readonly (readonly [name: string, path: string])[] = [
    ['jobs', '/jobs'],
    ['jobs/invoices', '/jobs/invoices'],
    ['Jobs and more/a_b-c.d:e=1', '/Jobs and more/a_b-c.d:e=1'],
    ['замок/錠', '/замок/錠'],
    ['100%', '/100%'],
    ['100%zz', '/100%zz'],
    ['%41', '/%2541'],
    ['%4a%4A', '/%254a%254A'],
    ['%2F', '/%252F'],
    ['/jobs', '/%2Fjobs'],
    ['jobs/', '/jobs%2F'],
    ['a//b', '/a/%2Fb'],
    ['a///b', '/a/%2F%2Fb'],
    ['/', '/%2F'],
    ['//', '/%2F%2F'],
    ['.', '/%2E'],
    ['a/../b', '/a/%2E./b'],
    ['...', '/...'],
    ['.hidden', '/.hidden'],
    ['tab\there', '/tab%09here'],
    ['nul\u0000', '/nul%00'],
    ['del\u007f\u0085', '/del%7F%C2%85'],
    ['lock🔒', '/lock%F0%9F%94%92'],
    ['private\ue000\uf8ff', '/private%EE%80%80%EF%A3%BF'],
    ['\ufffd\uffef', '/%EF%BF%BD\uffef'],
    ['zookeeper', '/%7Aookeeper'],
    ['zookeeper/quota', '/%7Aookeeper/quota'],
    ['a/zookeeper', '/a/zookeeper'],
    ['.queuelock', '/%2Equeuelock'],
    ['a/.queuelock', '/a/.queuelock'],
    ['jobs-lock-0000000001', '/jobs-lock-000000000%31'],
    ['a/x__WRIT__-2147483648', '/a/x__WRIT__-214748364%38'],
    ['a/x-lock-00000000012', '/a/x-lock-00000000012'],
  ];

  for (const [name, path] of paths) {
    it(`${JSON.stringify(name)} is the directory ${JSON.stringify(path)}`, () => {
      expect(queuePath('', name)).to.equal(path);
    });
  }

  it('lie below the chroot', () => {
    expect(queuePath('/our/locks', 'jobs')).to.equal('/our/locks/jobs');
  });

  it('give the name back when the path is decoded, so no two share a directory', () => {
    // A lone `%` is itself.
    const decode = (path: string): string =>
      path.slice(1).replace(/(%[0-9A-F]{2})+/g, (escapes) => decodeURIComponent(escapes));
    for (const [name, path] of paths) expect(decode(path)).to.equal(name);
  });

  it('never look like an entry of the directory above', () => {
    for (const [name] of paths) {
      const segments = queuePath('', name).split('/').slice(1);
      expect(segments.filter((segment) => parseContender(segment))).to.deep.equal([]);
    }
  });

  for (const [what, name] of [
    ['an empty name', ''],
    ['a lone surrogate', 'a\ud800b'],
    ['a name of 5,000 bytes', 'x'.repeat(5_000)],
    ['a number', 7 as unknown as string],
  ] as const) {
    it(`do not include ${what}`, () => {
      expect(code(() => queuePath('', name))).to.equal('INVALID_ARGUMENT');
    });
  }
});

describe('places of registers', () => {
  it('have the whole name as one segment', () => {
    expect(registerPaths('/root', 'jobs/invoices', 'limit')).to.deep.equal({
      directory: '/root/.queuelock/register/limit',
      path: '/root/.queuelock/register/limit/jobs%2Finvoices',
      gate: '/root/.queuelock/gate/limit/jobs%2Finvoices',
    });
  });

  it('are different for different names', () => {
    const names = [
      'a/b',
      'a%2Fb',
      'a//b',
      '/a/b',
      'a/b/',
      'a%/2Fb',
      '%/',
      '%2/F',
      '.',
      '..',
      'a',
      'a%2F',
      'a/',
      '%',
    ];
    const paths = names.map((name) => registerPaths('', name, 'limit').path);
    expect(new Set(paths).size).to.equal(names.length);
    const segments = paths.map((path) => path.split('/').length);
    expect(new Set(segments)).to.deep.equal(new Set([5]));
  });
});

describe('names of entries', () => {
  it('are those of Curator, with the id as UUID', () => {
    expect(entryName({ id: ID, shared: false, limit: 1 })).to.equal(`_c_${UUID}-lock-`);
    expect(entryName({ id: ID, shared: true, limit: 1 })).to.equal(`_c_${UUID}-__READ__`);
  });

  it('say how many permits of how many they take, unless that is one of one', () => {
    expect(entryName({ id: ID, shared: false, limit: 5 })).to.equal(`_c_${UUID}-1of5-lock-`);
    expect(entryName({ id: ID, shared: false, limit: 5, permits: 2 })).to.equal(`_c_${UUID}-2of5-lock-`);
    expect(entryName({ id: ID, shared: true, limit: 5, permits: 2 })).to.equal(`_c_${UUID}-__READ__`);
  });

  for (const [name, permits] of [
    [`_c_${UUID}-2of5-lock-0000000001`, { permits: 2, limit: 5 }],
    [`_c_${UUID}-5of5-lock--000000005`, { permits: 5, limit: 5 }],
    [`_c_${UUID}-6of5-lock-0000000001`, {}],
    [`_c_${UUID}-0of5-lock-0000000001`, {}],
    [`_c_${UUID}-1of99999999999999999-lock-0000000001`, {}],
    [`_c_${UUID}-2of5-__WRIT__0000000001`, {}],
    [`_c_${UUID}-lock-0000000001`, {}],
    ['2of5-lock-0000000001', {}],
    [`x_c_${UUID}-2of5-lock-0000000001`, {}],
  ] as const) {
    it(`${name} ${'limit' in permits ? `takes ${permits.permits} of ${permits.limit}` : 'says nothing of permits'}`, () => {
      const { sequence, shared } = parseContender(name)!;
      expect(parseContender(name)).to.deep.equal({ name, sequence, shared, ...permits });
    });
  }

  for (const [name, reader] of [
    [`_c_${UUID}-lock-0000000004`, `_c_${UUID}-__READ__0000000004`],
    [`_c_${UUID}-2of5-lock--2147483648`, `_c_${UUID}-__READ__-2147483648`],
    [`_c_${UUID}-__READ__0000000004`, `_c_${UUID}-__READ__0000000004`],
  ] as const) {
    it(`${name} turns into the reader ${reader}`, () => {
      expect(readerOf(name)).to.equal(reader);
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
    [`_c_${UUID}-__READ__0000000001`, [1, true]],
    [`_c_${UUID}-__WRIT__0000000002`, [2, false]],
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
    it(`${name} ${found ? `stands at ${found[0]}${found[1] ? ', shared' : ''}` : 'is no entry'}`, () => {
      expect(parseContender(name)).to.deep.equal(found && { name, sequence: found[0], shared: found[1] });
    });
  }
});

describe('the order of entries', () => {
  const lock = (sequence: string, kind = 'lock-'): string => `_c_${UUID}-${kind}${sequence}`;
  const own = (name: string) => parseContender(name)!;

  it('goes on through the wrap of the 32-bit sequence number', () => {
    const names = [lock('-2147483647'), lock('2147483646'), lock('-2147483648'), lock('2147483647')];
    expect(contendersIn(names).map(({ sequence }) => sequence)).to.deep.equal([
      2147483646, 2147483647, -2147483648, -2147483647,
    ]);
    expect(contendersIn([...names].reverse()).map(({ sequence }) => sequence)).to.deep.equal([
      2147483646, 2147483647, -2147483648, -2147483647,
    ]);
  });

  it('goes on from -1 to 0', () => {
    const names = [lock('0000000000'), lock('-000000001'), lock('0000000001')];
    expect(contendersIn(names).map(({ sequence }) => sequence)).to.deep.equal([-1, 0, 1]);
  });

  it('has the entry before the wrap ahead of the one after it, and not the other way round', () => {
    const [before, after] = [lock('2147483647'), lock('-2147483648')];
    expect(conflictsAhead([before, after], own(after)).map(({ name }) => name)).to.deep.equal([before]);
    expect(conflictsAhead([before, after], own(before))).to.deep.equal([]);
    expect(distance(2147483647, -2147483648)).to.equal(1);
    expect(distance(-2147483648, 2147483647)).to.equal(-1);
  });

  it('is a number that grows through the wrap', () => {
    expect([0, 2147483647, -2147483648, -1].map(orderOf)).to.deep.equal([
      0n,
      2147483647n,
      2147483648n,
      4294967295n,
    ]);
  });

  it('keeps a writer before the reader of the same number that it turned into', () => {
    const names = [lock('0000000004', '__READ__'), lock('0000000004', '__WRIT__'), lock('0000000003')];
    expect(contendersIn(names).map(({ name }) => name)).to.deep.equal([names[2], names[1], names[0]]);
  });

  it('shows the reader alone, once it is there', () => {
    const names = [
      lock('0000000004', '__READ__'),
      lock('0000000004'),
      lock('0000000005'),
      lock('0000000003'),
    ];
    expect(standingIn(names).map(({ name }) => name)).to.deep.equal([names[3], names[0], names[2]]);
    expect(standingIn(names.slice(1)).map(({ name }) => name)).to.deep.equal([names[3], names[1], names[2]]);
  });

  it('tells the nearest other limit ahead of an exclusive entry', () => {
    const five = '5of5-lock-';
    const names = [lock('0000000001', five), lock('0000000002'), lock('0000000003', '__READ__')];
    const [exclusive, shared] = [own(lock('0000000009', five)), own(lock('0000000009', '__READ__'))];
    const other = (of: typeof exclusive, limit: number): number | undefined =>
      otherLimitAhead(conflictsAhead(names, of), { own: of, limit });
    expect([1, 5, 7].map((limit) => other(exclusive, limit))).to.deep.equal([5, 1, 1]);
    expect(other(shared, 7)).to.equal(undefined);
    expect(otherLimitAhead([], { own: exclusive, limit: 5 })).to.equal(undefined);
  });

  const line = [
    lock('0000000001', '__READ__'),
    lock('0000000002'),
    lock('0000000003', '__READ__'),
    lock('0000000004', '__WRIT__'),
    lock('0000000005', '__READ__'),
    'invoices',
    '!note',
  ];
  for (const [name, ahead] of [
    [line[0]!, []],
    [line[1]!, [line[0]]],
    [line[2]!, [line[1]]],
    [line[3]!, [line[2], line[1], line[0]]],
    [line[4]!, [line[3], line[1]]],
  ] as const) {
    it(`puts ${ahead.length} conflicting entries ahead of ${name.slice(40)}, nearest first`, () => {
      expect(conflictsAhead(line, own(name)).map((entry) => entry.name)).to.deep.equal(ahead);
    });
  }
});
