import {
  expectAccepted,
  fencedUpdate,
  sqlOutcome,
  sqlFences,
  type FencedStatement,
  type SqlOutcome,
} from '@queuelock/fencing';
import { expect } from 'chai';
import { databases, queryBy, startOrSkip, type SqlConnection } from './databases.ts';
import { SQL_TABLE } from './sql-resource.ts';

/** A fencing token that a JavaScript number cannot represent exactly. The tests use it to detect rounding. */
const BIG = 2n ** 62n + 1n;

for (const database of databases) {
  describe(`the rejection of a fenced write in ${database.name}`, function () {
    this.timeout(120_000);
    let connection: SqlConnection;
    let stop: (() => Promise<void>) | undefined;
    const { dialect } = database;
    const fences = sqlFences(dialect);
    const response = (statement: FencedStatement): Promise<SqlOutcome> =>
      sqlOutcome(queryBy(connection), statement);
    const write = (id: string, token: bigint, once = false): FencedStatement =>
      fencedUpdate(dialect, {
        table: 'texts',
        set: { text: 'x' },
        where: { id },
        hold: { name: 'the lock', token },
        once,
      });

    before(async function () {
      const running = await startOrSkip(this, database);
      stop = () => running.stop();
      connection = await database.connect(running.place);
      for (const statement of SQL_TABLE) await connection.exec(statement);
      await connection.run(fences.createTable());
    });

    after(async () => {
      // If the database is not available, the tests were skipped, and there is nothing to stop.
      if (stop === undefined) return;
      await connection.close();
      await stop();
    });

    it('names the exact token of a later holder', async () => {
      expect(await response(write('fenced', BIG))).to.deep.equal({ outcome: 'accepted' });
      expect(await response(write('fenced', BIG))).to.deep.equal({ outcome: 'accepted' });
      expect(await response(write('fenced', BIG - 1n))).to.include({ outcome: 'refused', largest: BIG });
      expect(await response(write('nowhere', BIG))).to.include({ outcome: 'missing' });
    });

    it('distinguishes a repeated write from a write of an earlier holder, if a hold may write only once', async () => {
      expect(await response(write('unfenced', 5n, true))).to.deep.equal({ outcome: 'accepted' });
      expect(await response(write('unfenced', 5n, true))).to.include({ outcome: 'repeated' });
      expect(await response(write('unfenced', 4n, true))).to.include({ outcome: 'refused', largest: 5n });
      expect(await response(write('nowhere', 5n, true))).to.include({ outcome: 'missing' });
    });

    it('contains the token of the later holder also within a transaction', async () => {
      const claim = (name: string, token: bigint): Promise<SqlOutcome> =>
        sqlOutcome(queryBy(connection), fences.claim({ name, token }));
      expect(await claim('known', BIG)).to.deep.equal({ outcome: 'accepted' });
      await connection.exec(database.begin);
      expect(await claim('known', BIG - 1n)).to.include({ outcome: 'refused', largest: BIG });
      expect(await claim('unknown', BIG)).to.deep.equal({ outcome: 'accepted' });
      await connection.exec('ROLLBACK');
    });

    it('is thrown as an error that names lock, token and table', async () => {
      await expectAccepted(response(write('fenced', BIG + 1n)));
      const late = await expectAccepted(response(write('fenced', BIG))).catch(String);
      expect(late).to.match(
        /OWNERSHIP_LOST.*"the lock" with token 4611686018427387905 is refused by the row of .texts. \(id\): .*4611686018427387906$/,
      );
      const lost = await expectAccepted(response(write('nowhere', BIG))).catch(String);
      expect(lost).to.match(/INVALID_ARGUMENT.*"the lock".*there is no such row$/);
    });
  });
}
