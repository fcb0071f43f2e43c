import { isQueueLockError } from '@queuelock/core/backend';
import { expect } from 'chai';
import { parseMarked } from '../src/queue/marks.ts';
import { queuePath, registerPaths } from '../src/queue/names.ts';

function code(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return isQueueLockError(error) ? error.code : String(error);
  }
  return 'no error';
}

describe('names of queues in ZooKeeper', () => {
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
    ['a/x-latch-0000000001', '/a/x-latch-000000000%31'],
    ['a/x-lease-0000000001', '/a/x-lease-000000000%31'],
    ['a/x__lock__0000000001', '/a/x__lock__000000000%31'],
    ['a/x__rlock__0000000001', '/a/x__rlock__000000000%31'],
    ['a/x__lock__9999999999', '/a/x__lock__999999999%39'],
    ['a/x-lock-00000000012', '/a/x-lock-00000000012'],
  ];

  for (const [name, path] of paths) {
    it(`become paths: ${JSON.stringify(name)} becomes ${JSON.stringify(path)}`, () => {
      expect(queuePath('', name)).to.equal(path);
    });
  }

  it('are stored below the chroot', () => {
    expect(queuePath('/our/locks', 'jobs')).to.equal('/our/locks/jobs');
  });

  it('are restored by decoding the path, so no two queues share a directory', () => {
    // A `%` without two hexadecimal digits is not an escape.
    const decode = (path: string): string =>
      path.slice(1).replace(/(%[0-9A-F]{2})+/g, (escapes) => decodeURIComponent(escapes));
    for (const [name, path] of paths) expect(decode(path)).to.equal(name);
  });

  it('never become a path with a segment that could be an entry', () => {
    for (const [name] of paths) {
      const segments = queuePath('', name).split('/').slice(1);
      expect(segments.filter((segment) => parseMarked(segment))).to.deep.equal([]);
    }
  });

  for (const [what, name] of [
    ['an empty name', ''],
    ['a lone surrogate', 'a\ud800b'],
    ['a name of 5,000 bytes', 'x'.repeat(5_000)],
    ['a number', 7 as unknown as string],
  ] as const) {
    it(`are refused when they are invalid: ${what}`, () => {
      expect(code(() => queuePath('', name))).to.equal('INVALID_ARGUMENT');
    });
  }
});

describe('paths of registers', () => {
  it('contain the whole name of the queue as one segment', () => {
    expect(registerPaths('/root', 'jobs/invoices', 'limit')).to.deep.equal({
      directory: '/root/.queuelock/register/limit',
      path: '/root/.queuelock/register/limit/jobs%2Finvoices',
      gate: '/root/.queuelock/gate/limit/jobs%2Finvoices',
    });
  });

  it('are different for different queues', () => {
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
