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
  it('have the syntax of their database', () => {
    expect(fencedUpdate('postgres', { ...update, table: ['billing', 'accounts'] })).to.deep.include({
      text: 'UPDATE "billing"."accounts" SET "balance" = $1, "fence" = CAST($2 AS bigint) WHERE "id" = $3 AND "fence" <= CAST($4 AS bigint)',
      values: [5, '42', 7, '42'],
    });
    expect(fencedUpdate('sqlite', { ...update, once: true, where: { id: 7, gone: null } })).to.deep.include({
      text: 'UPDATE `accounts` SET `balance` = ?, `fence` = CAST(? AS INTEGER) WHERE `id` = ? AND `gone` IS NULL AND `fence` < CAST(? AS INTEGER)',
      values: [5, '42', 7, '42'],
    });
    expect(sqlFences('mysql').claim({ name: 'jobs', token: 42n })).to.deep.include({
      text: 'UPDATE `queuelock_fences` SET token = LAST_INSERT_ID(CAST(? AS SIGNED)) WHERE name = ? AND token <= CAST(? AS SIGNED)',
      values: ['42', 'jobs', '42'],
    });
  });

  it('carry no value in their text, and as many values as placeholders', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...DIALECTS),
        fc.string(),
        fc.string({ minLength: 1 }),
        (dialect, value, name) => {
          const secret = `SECRET${value}`;
          const statements = [
            fencedUpdate(dialect, { ...update, set: { a: secret, b: secret }, where: { c: secret } }),
            sqlFences(dialect).claim({ name: `SECRET${name}`, token: 3n }),
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

  it('refuse invalid identifiers, naming argument, value and rule', () => {
    for (const dialect of DIALECTS) {
      for (const bad of ['', 'a.b', 'a\0b', ' a', 'a\n', 'x'.repeat(200), '\ud800', 7 as unknown as string]) {
        expect(() => sqlFences(dialect, bad), JSON.stringify(bad)).to.throw(
          /INVALID_ARGUMENT.*table (is an identifier|has at most)/,
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

  it('refuse updates of no row, of the fence column, and without a value', () => {
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
    expect(() => sqlFences('sqlite').register('\ud800')).to.throw(/name is well-formed text/);
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
    ];
    const not: SqlResult[] = [
      { rowCount: 0 },
      { changes: 0 },
      { affectedRows: 0, insertId: 0 },
      { affectedRows: 0, insertId: '0' },
    ];
    expect(accepted.map(isAccepted)).to.not.include(false);
    expect(not.map(isAccepted)).to.not.include(true);
  });

  it('throws for several rows, and for the result of another statement', () => {
    expect(() => isAccepted({ rowCount: 2 })).to.throw(/where names one row; got "2 rows"/);
    expect(() => isAccepted({ rowCount: null })).to.throw(/result is the result of an update/);
    expect(() => isAccepted({} as SqlResult)).to.throw(/result is the result of an update/);
  });
});
