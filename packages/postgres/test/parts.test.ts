import { expect } from 'chai';
import { asQueueLockError, breaksConnection, isClash, isMissing } from '../src/driver/errors.ts';
import { findingsOf } from '../src/views/diagnose.ts';
import { keyOf, orderIn } from '../src/queue/names.ts';
import { Opener } from '../src/server/opener.ts';
import { Pace } from '../src/server/pace.ts';
import { storedText, textOf } from '../src/queue/text.ts';
import { sumOf } from '../src/turn/placed.ts';

const AT = { endpoint: 'postgres://h', schema: 'queuelock' };

function serverError(code: string, message = 'no'): Error {
  return Object.assign(new Error(message), { code });
}

describe('a text that is stored in PostgreSQL', () => {
  it('is restored unchanged even if it contains the character 0 or backslashes', () => {
    for (const text of ['', 'plain', '\0', '\\0', '\\', '\\\\0\0', 'é\n€'])
      expect(textOf(storedText(text))).to.equal(text);
  });

  it('contains no character 0 in its stored form', () => {
    expect(storedText('a\0b')).to.not.contain('\0');
    expect(storedText('a\\\0b').startsWith(storedText('a\\'))).to.equal(true);
  });
});

describe('the key of an entry of PostgreSQL', () => {
  it('is accepted only in the queue that it was created for', () => {
    expect(orderIn('a/b', keyOf('a/b', 7))).to.equal('7');
    expect(orderIn('a', keyOf('a/b', 7))).to.equal(undefined);
    expect(orderIn('a', 'a/b')).to.equal(undefined);
  });
});

describe('an error of PostgreSQL', () => {
  const codes: Readonly<Record<string, string>> = {
    '28P01': 'ACCESS_DENIED',
    '42501': 'ACCESS_DENIED',
    '3D000': 'INVALID_ARGUMENT',
    QL001: 'INVALID_ARGUMENT',
    '42883': 'FOREIGN_FORMAT',
    '53300': 'UNAVAILABLE',
    '25006': 'UNAVAILABLE',
    '40001': 'UNAVAILABLE',
  };
  for (const [code, ours] of Object.entries(codes)) {
    it(`with the code ${code} is converted to an error with the code ${ours}`, () => {
      expect(asQueueLockError(serverError(code), AT)).to.have.property('code', ours);
    });
  }

  it('ends the connection if it is a network error, or if the server accepts no writes or shuts down', () => {
    expect(breaksConnection(serverError('23505'))).to.equal(false);
    expect(breaksConnection(serverError('25006'))).to.equal(true);
    expect(breaksConnection(serverError('57P01'))).to.equal(true);
    expect(breaksConnection(Object.assign(new Error('reset'), { code: 'EPIPE' }))).to.equal(true);
  });

  it('makes the backend retry a step if it reports a conflict', () => {
    expect(['40P01', '40001', '23505', '42501'].map((code) => isClash(serverError(code)))).to.deep.equal([
      true,
      true,
      true,
      false,
    ]);
    expect(['42883', '3F000', '42501'].map((code) => isMissing(serverError(code)))).to.deep.equal([
      true,
      true,
      false,
    ]);
  });
});

describe('a connection to PostgreSQL', () => {
  it('is opened immediately, without a timer, when the rate limit requires no delay', async () => {
    const clock = { now: () => 0, after: () => () => undefined, random: () => 0 };
    const wire = { query: () => Promise.resolve([]), release: () => undefined };
    const driver = { endpoint: AT.endpoint, isShared: true, open: () => Promise.resolve(wire) };
    let isThere = false;
    const events = { onMessage: () => undefined, onEnd: () => undefined };
    void new Opener(driver, { clock, withinMs: 1_000 }).open(events).then(() => (isThere = true));
    await new Promise(setImmediate);
    expect(isThere).to.equal(true);
  });
});

describe('the rate limit of connections to PostgreSQL', () => {
  it('allows five attempts in a second, and delays further attempts after failures', () => {
    let now = 0;
    const pace = new Pace({ now: () => now, after: () => () => undefined, random: () => 0 });
    for (let nth = 0; nth < 5; nth += 1) {
      expect(pace.pauseMs).to.equal(0);
      pace.attempted();
    }
    expect(pace.pauseMs).to.equal(1_000);
    now = 1_000;
    expect(pace.pauseMs).to.equal(0);
    pace.failed();
    const first = pace.pauseMs;
    expect(first).to.be.greaterThan(0);
    for (let nth = 0; nth < 10; nth += 1) pace.failed();
    expect(pace.pauseMs).to.be.greaterThan(first).and.at.most(2_500);
    pace.succeeded();
    expect(pace.pauseMs).to.equal(0);
  });
});

describe('the sum of the order numbers of PostgreSQL entries', () => {
  it('is exact even above the largest safe integer of JavaScript', () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(sumOf([{ ord: most }, { ord: most - 1 }])).to.equal(18_014_398_509_481_981n);
  });
});

describe('the diagnosis of a PostgreSQL server', () => {
  const fine = {
    version: '15.18',
    number: 150_018,
    replicas: 0,
    synchronous: '',
    commit: 'on',
    fsync: 'on',
    readOnly: 'off',
    oldest: 1,
  };
  const levels = (more: object): readonly string[] =>
    findingsOf({ ...fine, ...more }, 'here').map(({ level, text }) => `${level}: ${text}`);

  it("contains only the server's version when there is no problem", () => {
    expect(levels({})).to.deep.equal(['ok: PostgreSQL 15.18']);
  });

  it('warns of replicas that may lag, switched-off fsync, old versions and long transactions', () => {
    expect(levels({ replicas: 1 }).join()).to.contain('warning: it has 1 replicas, which may lag');
    expect(levels({ replicas: 1 }).join()).to.contain('renews the earlier hold without end');
    expect(levels({ replicas: 1, synchronous: 'b' })).to.have.length(1);
    expect(levels({ synchronous: 'b' }).join()).to.contain(
      'error: synchronous_standby_names is b, and no replica is connected',
    );
    expect(levels({ synchronous: 'b', commit: 'local' })).to.have.length(1);
    expect(levels({ fsync: 'off' }).join()).to.contain('error: fsync is off');
    expect(levels({ number: 110_000 }).join()).to.contain('older than 12');
    expect(levels({ oldest: 3_600 }).join()).to.contain('open for 3600 s');
  });
});
