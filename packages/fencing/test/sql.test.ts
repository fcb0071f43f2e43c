import { expect } from 'chai';
import fc from 'fast-check';
import {
  fencedUpdate,
  isAccepted,
  sqlFences,
  type FencedUpdate,
  type SqlDialect,
  type SqlResult,
} from '../src/index.ts';

const DIALECTS: readonly SqlDialect[] = ['postgres', 'mysql', 'sqlite'];
const update: FencedUpdate = {
  table: 'accounts',
  set: { balance: 5 },
  where: { id: 7 },
  hold: { token: 42n },
};

describe('SQL statements', () => {
  it('have the syntax of their dialect', () => {
    expect(fencedUpdate('postgres', { ...update, table: ['billing', 'accounts'] })).to.deep.include({
      text: 'UPDATE "billing"."accounts" SET "balance" = $1, "fence" = CAST(CAST($2 AS text) AS bigint) WHERE "id" = $3 AND "fence" <= CAST(CAST($4 AS text) AS bigint)',
      values: [5, '42', 7, '42'],
    });
    expect(fencedUpdate('sqlite', { ...update, once: true, where: { id: 7, gone: null } })).to.deep.include({
      text: 'UPDATE `accounts` SET `balance` = ?, `fence` = CAST(? AS INTEGER) WHERE `id` = ? AND `gone` IS NULL AND `fence` < CAST(? AS INTEGER)',
      values: [5, '42', 7, '42'],
    });
    const [raise, read] = sqlFences('mysql').claim({ name: 'jobs', token: 42n }).statements;
    expect(raise).to.deep.include({
      text: 'INSERT INTO `queuelock_fences` (name, token) VALUES (?, CAST(? AS SIGNED)) ON DUPLICATE KEY UPDATE token = GREATEST(token, CAST(? AS SIGNED))',
      values: ['jobs', '42', '42'],
    });
    expect(read).to.deep.include({
      text: 'SELECT CAST(token AS CHAR) AS token FROM `queuelock_fences` WHERE name = ? FOR UPDATE',
      values: ['jobs'],
      reads: true,
    });
    expect(sqlFences('postgres').claim({ name: 'jobs', token: 42n }).statements).to.have.length(1);
  });

  it('have the same text when the parts for a template literal are joined', () => {
    for (const dialect of DIALECTS) {
      const { text, strings, values } = fencedUpdate(dialect, update);
      expect(strings.raw).to.deep.equal([...strings]);
      expect(strings).to.have.length(values.length + 1);
      const joined = strings.reduce(
        (sum, part, i) => `${sum}${dialect === 'postgres' ? `$${i}` : '?'}${part}`,
      );
      expect(joined).to.equal(text);
    }
  });

  it('create the same table by a migration as by createTable()', () => {
    for (const dialect of DIALECTS) {
      const fences = sqlFences(dialect, ['app', 'fences']);
      const created = fences.migration().trim().replace(/;$/, '');
      expect(fences.createTable().text).to.include(created);
      expect(created).to.match(/^CREATE TABLE IF NOT EXISTS ["`]app["`]\.["`]fences["`] \(name /);
    }
  });

  it('pass each value by a placeholder and never contain it in their text', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...DIALECTS),
        fc.string(),
        fc.string({ minLength: 1 }),
        (dialect, value, name) => {
          const secret = `SECRET${value}`;
          const statements = [
            fencedUpdate(dialect, { ...update, set: { a: secret, b: secret }, where: { c: secret } }),
            ...sqlFences(dialect).claim({ name: `SECRET${name}`, token: 3n }).statements,
          ];
          for (const { text, values } of statements) {
            expect(text).not.to.include('SECRET');
            expect(text.match(/\?|\$\d+/g)).to.have.length(values.length);
          }
        },
      ),
      { examples: [['mysql', "'; DROP TABLE x; --", '`']] },
    );
  });

  it('quote every character that an identifier may contain', () => {
    const quoted = (dialect: SqlDialect): string =>
      fencedUpdate(dialect, { ...update, table: 'we"ird`; --' }).text;
    expect(quoted('postgres')).to.match(/^UPDATE "we""ird`; --" SET/);
    expect(quoted('mysql')).to.match(/^UPDATE `we"ird``; --` SET/);
    expect(quoted('sqlite')).to.match(/^UPDATE `we"ird``; --` SET/);
  });

  it('throw for invalid identifiers, with an error that names argument, value and rule', () => {
    for (const dialect of DIALECTS) {
      for (const bad of [
        '',
        'a.b',
        'a\0b',
        ' a',
        'a\n',
        'a?',
        'a$queuelock$',
        'x'.repeat(200),
        '\ud800',
        7 as unknown as string,
      ]) {
        expect(() => sqlFences(dialect, bad), JSON.stringify(bad)).to.throw(
          /INVALID_ARGUMENT.*table (is an identifier|has at most|does not contain)/,
        );
        expect(() => fencedUpdate(dialect, { ...update, fence: bad })).to.throw(/INVALID_ARGUMENT.*fence/);
      }
      expect(() => fencedUpdate(dialect, { ...update, set: { 'a.b': 1 } })).to.throw(
        /set is an identifier.*"a\.b"/,
      );
    }
    expect(() => sqlFences('postgres', 'é'.repeat(32))).to.throw(/table has at most 63 bytes/);
    expect(() => sqlFences('oracle' as SqlDialect)).to.throw(
      /dialect is one of postgres, mysql, sqlite; got "oracle"/,
    );
  });

  it('refuse updates that have no condition, set the fence column, or lack a value', () => {
    expect(() => fencedUpdate('sqlite', { ...update, where: {} })).to.throw(
      /where names the row with at least one column/,
    );
    expect(() => fencedUpdate('sqlite', { ...update, where: { id: undefined } })).to.throw(
      /where\.id has a value/,
    );
    expect(() => fencedUpdate('sqlite', { ...update, set: { FENCE: 1 } })).to.throw(
      /does not assign the fence column/,
    );
    expect(() => fencedUpdate('sqlite', { ...update, hold: { token: 2n ** 63n } })).to.throw(
      /token is a bigint/,
    );
    expect(() => sqlFences('sqlite').claim({ name: '', token: 1n })).to.throw(/name is well-formed text/);
    expect(() => sqlFences('sqlite').largest('\ud800')).to.throw(/name is well-formed text/);
  });
});

describe('isAccepted', () => {
  it('is true for one row and false for none, in the result format of each driver', () => {
    const accepted: SqlResult[] = [
      { rowCount: 1 },
      { changes: 1 },
      { changes: 1n },
      { affectedRows: 1, insertId: 42 },
      { affectedRows: 0, insertId: '42' },
      { affectedRows: 0, insertId: 42n },
      1,
      Object.assign([], { count: 1 }) as never,
      [{ affectedRows: 1, insertId: 42 }, undefined],
      [[], 1],
      { numAffectedRows: 1n },
      { numAffectedRows: 0n, insertId: 42n },
    ];
    const not: SqlResult[] = [
      { rowCount: 0 },
      { changes: 0 },
      { affectedRows: 0, insertId: 0 },
      { affectedRows: 0, insertId: '0' },
      0,
      Object.assign([], { count: 0 }) as never,
      [{ affectedRows: 0, insertId: 0 }, undefined],
      [[], 0],
      { numAffectedRows: 0n, insertId: undefined },
    ];
    expect(accepted.map(isAccepted)).to.not.include(false);
    expect(not.map(isAccepted)).to.not.include(true);
  });

  it('throws for a result with several rows, and for the result of a statement that is no update', () => {
    expect(() => isAccepted({ rowCount: 2 })).to.throw(/where names one row; got "2 rows"/);
    expect(() => isAccepted({ rowCount: null })).to.throw(/result is the result of an update/);
    expect(() => isAccepted(2)).to.throw(/where names one row; got "2 rows"/);
    for (const other of [{}, [], [{ id: 1 }], undefined, null, '1', true, Object.assign([], { count: null })])
      expect(() => isAccepted(other as never), JSON.stringify(other)).to.throw(/result is the result of an/);
  });
});
