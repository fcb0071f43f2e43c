import { QueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import {
  createFencingGate,
  encodeFencedData,
  etcdOutcome,
  expectAccepted,
  fencedUpdate,
  fencedZnode,
  fencingHeaders,
  httpOutcome,
  sqlOutcome,
  sqlFences,
  type AnyFenceOutcome,
  type SqlQuery,
} from '../src/index.ts';

const hold = { name: 'invoices', key: 'invoices/1', token: 7n };

async function errorOf(reply: PromiseLike<AnyFenceOutcome>): Promise<{ code: string; message: string }> {
  const error: unknown = await expectAccepted(reply).catch((refused: unknown) => refused);
  if (!(error instanceof QueueLockError)) return expect.fail(`no refusal but ${String(error)}`);
  expect(error.cause).to.equal(await reply);
  return { code: error.code, message: error.message };
}

describe('expectAccepted', () => {
  it('resolves with the outcome, and its additional properties, when the write was accepted', async () => {
    expect(await expectAccepted({ outcome: 'accepted' })).to.deep.equal({ outcome: 'accepted' });
    const headers = new Headers(fencingHeaders(hold));
    const done = await expectAccepted(
      createFencingGate().run(
        (name) => headers.get(name),
        () => 'stored',
      ),
    );
    expect(done.value).to.equal('stored');
  });

  it('rejects when etcd refuses the write, and names lock, token and entry', async () => {
    expect(await errorOf(etcdOutcome(hold, { succeeded: false }))).to.deep.equal({
      code: 'OWNERSHIP_LOST',
      message:
        '[OWNERSHIP_LOST] the hold of "invoices" with token 7 is refused by etcd: its entry "invoices/1" is no longer in the queue',
    });
    await expectAccepted(etcdOutcome(hold, Promise.resolve({ succeeded: true })));
  });

  it('rejects when a znode refuses the write, and names lock, tokens of both holders, and path', async () => {
    const client = {
      get: async () => ({ data: encodeFencedData('x', 9n), version: 3 }),
      set: async () => expect.fail('it wrote'),
    };
    const { code, message } = await errorOf(
      Promise.resolve(await fencedZnode(client, '/r', hold).write('y')),
    );
    expect(code).to.equal('OWNERSHIP_LOST');
    expect(message).to.include(
      'of "invoices" with token 7 is refused by the znode /r: a later holder wrote there, with token 9',
    );
  });

  it('rejects when a fencing gate refuses the request, with another error if its headers were missing', async () => {
    const gate = createFencingGate();
    const request = async (token: bigint): Promise<AnyFenceOutcome> => {
      const headers = new Headers(fencingHeaders({ ...hold, token }));
      return gate.check((name) => headers.get(name));
    };
    await expectAccepted(request(9n));
    const late = await errorOf(Promise.resolve(await request(7n)));
    expect(late.code).to.equal('OWNERSHIP_LOST');
    expect(late.message).to.match(/"invoices" with token 7 is refused: a later holder.* with token 9$/);
    const silent = await errorOf(Promise.resolve(await gate.check(() => undefined)));
    expect(silent.code).to.equal('INVALID_ARGUMENT');
  });

  it('rejects with UNAVAILABLE for an HTTP response that does not come from a fencing gate', async () => {
    const reply = (status: number, token?: string): Promise<AnyFenceOutcome> =>
      httpOutcome(
        hold,
        new Response(null, { status, headers: token === undefined ? {} : { 'fencing-token': token } }),
      );
    await expectAccepted(reply(204));
    expect(await reply(412, '9')).to.deep.include({ outcome: 'refused', largest: 9n });
    expect(await reply(412, '9;epoch=2')).to.not.have.property('largest');
    expect(await reply(428)).to.include({ outcome: 'missing' });
    expect(await reply(400)).to.include({ outcome: 'malformed' });
    for (const status of [412, 404, 500]) {
      const failed = await expectAccepted(reply(status)).catch((error: unknown) => error);
      expect(failed, String(status)).to.include({ code: 'UNAVAILABLE' });
    }
  });

  it('rejects for a value that is no outcome, such as the boolean of isAccepted', async () => {
    for (const none of [false, true, undefined, { outcome: 'yes' }]) {
      const failed = await expectAccepted(none as never).catch(String);
      expect(failed).to.match(/INVALID_ARGUMENT.*outcome of a fence (must be|has)/);
    }
  });
});

describe('sqlOutcome', () => {
  const update = { table: 'accounts', set: { balance: 5 }, where: { id: 'secret' }, hold };
  /**
   * Returns a fake query function of a database that accepts no write, and whose rows have the given tokens.
   */
  const refusing =
    (...tokens: unknown[]): SqlQuery =>
    ({ reads }) =>
      reads ? { rowCount: tokens.length, rows: tokens.map((token) => ({ token })) } : { rowCount: 0 };

  it('reports whether a later holder, a missing row or an earlier write of this hold caused the refusal', async () => {
    const write = fencedUpdate('postgres', update);
    const later = await errorOf(Promise.resolve(await sqlOutcome(refusing('9'), write)));
    expect(later).to.deep.equal({
      code: 'OWNERSHIP_LOST',
      message:
        '[OWNERSHIP_LOST] the hold of "invoices" with token 7 is refused by the row of "accounts" (id): a later holder wrote there, with token 9',
    });
    const missing = await errorOf(Promise.resolve(await sqlOutcome(refusing(), write)));
    expect(missing.code).to.equal('INVALID_ARGUMENT');
    expect(missing.message).to.match(
      /"invoices" with token 7 is refused by the row .*: there is no such row$/,
    );
    // The stored token 7 is that of the hold, so the update would have written the row. The row was therefore
    // created after the update, and counts as missing.
    expect(await sqlOutcome(refusing('7'), write)).to.include({ outcome: 'missing' });
    const once = fencedUpdate('postgres', { ...update, once: true });
    expect(await sqlOutcome(refusing('7'), once)).to.include({ outcome: 'repeated' });
    expect(await sqlOutcome(refusing('9'), once)).to.include({ outcome: 'refused', largest: 9n });
  });

  it('reads the stored token after the statement of claim(), and ignores what that statement returned', async () => {
    for (const dialect of ['postgres', 'mysql', 'sqlite'] as const) {
      const claim = sqlFences(dialect).claim(hold);
      expect(await sqlOutcome(refusing('7'), claim)).to.deep.equal({ outcome: 'accepted' });
      expect(await sqlOutcome(refusing('9'), claim)).to.include({ outcome: 'refused', largest: 9n });
      const nothing: SqlQuery = ({ reads }) => (reads ? [{ token: '7' }] : undefined);
      expect(await sqlOutcome(nothing, claim)).to.deep.equal({ outcome: 'accepted' });
    }
  });

  it('rejects when it reads no token, or too small a token, after the statement of claim()', async () => {
    const claim = sqlFences('mysql').claim(hold);
    const outcomes = [refusing(), refusing('6'), refusing('7', '7'), () => undefined];
    for (const query of outcomes)
      expect(await sqlOutcome(query, claim).catch(String)).to.match(/INVALID_ARGUMENT.*(claim|select)/);
  });

  it('queries for the reason of a refusal only when the write was not accepted', async () => {
    const requested: string[] = [];
    const accepting: SqlQuery = ({ text }) => {
      requested.push(text);
      return { rowCount: 1 };
    };
    const write = fencedUpdate('postgres', update);
    expect(await sqlOutcome(accepting, write)).to.deep.equal({ outcome: 'accepted' });
    expect(requested).to.deep.equal([write.text]);
    expect(JSON.parse(JSON.stringify(write))).to.deep.equal(write);
    expect(write.refusal.query).to.deep.include({
      text: 'SELECT CAST("fence" AS text) AS token FROM "accounts" WHERE "id" = $1 FOR UPDATE',
      values: ['secret'],
      reads: true,
    });
  });

  it('reads the result format of each driver', async () => {
    const write = fencedUpdate('mysql', update);
    const by =
      (header: unknown, rows: unknown): SqlQuery =>
      ({ reads }) =>
        reads ? rows : header;
    const row = { token: '9' };
    const none = { affectedRows: 0, insertId: 0 };
    const later = { outcome: 'refused', largest: 9n };
    expect(await sqlOutcome(by(none, [row]), write)).to.include(later);
    expect(await sqlOutcome(by([none, undefined], [[row], ['columns']]), write)).to.include(later);
    expect(await sqlOutcome(by([none, undefined], [[], ['columns']]), write)).to.include({
      outcome: 'missing',
    });
    expect(await sqlOutcome(by({ changes: 0 }, []), write)).to.include({ outcome: 'missing' });
  });

  it('rejects when the fence column contains no number, and when the query function returns no result', async () => {
    const write = fencedUpdate('postgres', update);
    const failed = (query: SqlQuery): Promise<unknown> => sqlOutcome(query, write).catch(String);
    expect(await failed(refusing(null))).to.match(/INVALID_ARGUMENT.*contains null.*NOT NULL DEFAULT 0/);
    expect(await failed(refusing('7', '9'))).to.match(/INVALID_ARGUMENT.*where names one row; got "2 rows"/);
    expect(await failed(() => undefined)).to.match(/INVALID_ARGUMENT.*result is the result of an update/);
    expect(await failed(() => [])).to.match(/INVALID_ARGUMENT.*result is the result of an update/);
    expect(await failed(() => ({ rowCount: 0 }))).to.match(
      /INVALID_ARGUMENT.*result of a select is a list of rows/,
    );
  });
});
