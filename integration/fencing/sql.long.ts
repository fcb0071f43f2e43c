import { fencedUpdate, isAccepted, sqlFences, sqlOutcome, type SqlStatement } from '@queuelock/fencing';
import { expect } from 'chai';
import { startProxy } from '@queuelock/harness/faults';
import { endScripts } from '@queuelock/harness/services/script-process';
import { etcdStore } from '../scenarios/etcd-store.ts';
import { recordLine } from '@queuelock/harness/services/shared';
import { until } from '@queuelock/harness/services/until';
import {
  connectMariaDb,
  databases,
  queryBy,
  startOrSkip,
  type Database,
  type SqlConnection,
} from './databases.ts';
import { SQL_TABLE } from './sql-resource.ts';
import { expectStaleHolderRefused } from './stale-holder.ts';

/**
 * A token that a JavaScript number cannot represent exactly. If a comparison rounded it, the next smaller and
 * larger tokens would count as equal to it.
 */
const BIG = 2n ** 62n + 1n;

for (const database of databases) {
  describe(`a fenced write in ${database.name}`, function () {
    this.timeout(120_000);
    let place: string;
    let connection: SqlConnection;
    let stop: (() => Promise<void>) | undefined;
    const { dialect } = database;
    const fences = sqlFences(dialect);
    const accepts = async (statement: SqlStatement, by = connection): Promise<boolean> =>
      isAccepted(await by.run(statement));
    const claims = async (name: string, token: bigint, by = connection): Promise<boolean> =>
      (await sqlOutcome(queryBy(by), fences.claim({ name, token }))).outcome === 'accepted';

    before(async function () {
      const running = await startOrSkip(this, database);
      place = running.place;
      stop = () => running.stop();
      recordLine('fenced writes in SQL', `${database.name} ${running.version}`);
      connection = await database.connect(place);
      for (const statement of SQL_TABLE) await connection.exec(statement);
      await connection.run(fences.createTable());
      await connection.run(fences.createTable());
    });

    after(async () => {
      // If the database is not available, the tests were skipped, and there is nothing to stop.
      if (stop === undefined) return;
      await connection.close();
      await stop();
    });

    afterEach(endScripts);

    it('is rejected for a holder that was frozen past its TTL, unlike a write without a fence', async () => {
      const site = await etcdStore.share('fenced writes in SQL');
      await expectStaleHolderRefused(site, {
        kind: database.kind,
        place,
        name: `fenced-${dialect}`,
      });
    });

    it('is rejected even if its token is smaller than the stored one only in the last digit', async () => {
      const claim = (token: bigint): Promise<boolean> => claims('digits', token);
      expect([await claim(BIG), await claim(BIG), await claim(BIG - 1n)]).to.deep.equal([true, true, false]);
      expect([await claim(BIG + 1n), await claim(BIG)]).to.deep.equal([true, false]);
      const [row] = await connection.rows(fences.largest('digits'));
      expect(row?.['token']).to.equal(String(BIG + 1n));
    });

    it('has separate fences for names that differ in case, accents or spaces', async () => {
      const names = ['Name', 'name', 'name ', 'näme', 'x'.repeat(512)];
      for (const [i, name] of names.entries())
        expect(await claims(name, BigInt(10 - i)), name).to.equal(true);
      expect(await connection.rows(fences.largest('unknown'))).to.have.length(0);
    });

    it('accepts a second write with the same token, unless each hold may write once', async () => {
      await connection.exec(`INSERT INTO texts (id) VALUES ('row')`);
      const write = (token: bigint, once = false): Promise<boolean> =>
        accepts(
          fencedUpdate(dialect, {
            table: 'texts',
            set: { text: 'x' },
            where: { id: 'row' },
            hold: { token },
            once,
          }),
        );
      expect([await write(BIG), await write(BIG), await write(BIG - 1n)]).to.deep.equal([true, true, false]);
      expect([await write(BIG, true), await write(BIG + 1n, true)]).to.deep.equal([false, true]);
    });

    it('accepts values and column names that contain quotes', async () => {
      const odd = dialect === 'postgres' ? `"o""d'd\`"` : `\`o"d'd\`\`\``;
      await connection.exec(
        `CREATE TABLE ${odd} (id int PRIMARY KEY, ${odd} varchar(40), fence bigint NOT NULL DEFAULT 0)`,
      );
      await connection.exec(`INSERT INTO ${odd} (id) VALUES (1)`);
      const text = `'; DROP TABLE texts; --`;
      const name = `o"d'd\``;
      const update = { table: name, set: { [name]: text }, where: { id: 1 }, hold: { token: 1n } };
      expect(await accepts(fencedUpdate(dialect, update))).to.equal(true);
      expect((await connection.rows({ text: `SELECT * FROM ${odd}`, values: [] }))[0]?.[name]).to.equal(text);
    });

    it("rejects with the database's error when a column is missing", async () => {
      const update = { table: 'texts', set: {}, where: { nothere: 'nothere' }, hold: { token: 1n } };
      const failed = await connection.run(fencedUpdate(dialect, update)).catch((error: unknown) => error);
      expect(String(failed)).to.match(/nothere/);
    });

    it('throws when its `where` condition matches two rows', async () => {
      await connection.exec(`INSERT INTO texts (id, text) VALUES ('one', 'twin')`);
      await connection.exec(`INSERT INTO texts (id, text) VALUES ('two', 'twin')`);
      const update = { table: 'texts', set: {}, where: { text: 'twin' }, hold: { token: 1n } };
      const result = await connection.run(fencedUpdate(dialect, update));
      expect(() => isAccepted(result)).to.throw(/where names one row; got "2 rows"/);
    });

    if (dialect !== 'sqlite') {
      it('is rejected as a repetition when it is sent again after a lost reply, if a hold may write only once', async () => {
        await connection.exec(`INSERT INTO texts (id) VALUES ('lost')`);
        await using proxy = await startProxy(endpointOf(place));
        const lossy = await database.connect(place.replace(endpointOf(place), proxy.endpoint));
        const update = {
          table: 'texts',
          set: { text: 'lost answer' },
          where: { id: 'lost' },
          hold: { token: BIG },
        };
        const write = fencedUpdate(dialect, { ...update, once: true });
        const { lost } = proxy.loseNextReply((chunk) => chunk.includes(String(BIG)));
        const unknown = lossy.run(write).then(
          () => 'answered',
          () => 'unknown',
        );
        await lost;
        proxy.cut();
        expect(await unknown).to.equal('unknown');
        expect(await accepts(write)).to.equal(false);
        const [row] = await connection.rows({ text: `SELECT text FROM texts WHERE id = 'lost'`, values: [] });
        expect(row?.['text']).to.equal('lost answer');
      });

      it('blocks concurrent writes to the fence until its transaction ends', async () => {
        const competitor = await database.connect(place);
        const third = await database.connect(place);
        await connection.exec(database.begin);
        expect(await claims('rivals', 5n)).to.equal(true);
        const later = claims('rivals', 6n, competitor);
        await untilWaiting(database, third);
        await connection.exec('COMMIT');
        expect(await later).to.equal(true);

        await competitor.exec(database.begin);
        expect(await claims('rivals', 8n, competitor)).to.equal(true);
        const earlier = claims('rivals', 7n);
        await untilWaiting(database, third);
        await competitor.exec('COMMIT');
        expect(await earlier).to.equal(false);
        await Promise.all([competitor.close(), third.close()]);
      });
    }

    if (dialect === 'mysql') {
      it('is accepted or rejected correctly on a connection that counts only rows with changed values', async () => {
        const changed = await connectMariaDb(place, ['-FOUND_ROWS']);
        await changed.exec(`INSERT INTO texts (id) VALUES ('changed')`);
        const claim = (token: bigint): Promise<boolean> => claims('changed', token, changed);
        const write = (token: bigint): Promise<boolean> => {
          const update = { table: 'texts', set: { text: 'x' }, where: { id: 'changed' }, hold: { token } };
          return accepts(fencedUpdate(dialect, update), changed);
        };
        for (const by of [claim, write]) {
          expect([await by(BIG), await by(BIG), await by(BIG - 1n)]).to.deep.equal([true, true, false]);
        }
        const [plain] = [
          await changed.run({ text: `UPDATE texts SET text = 'x' WHERE id = 'changed'`, values: [] }),
        ];
        expect(plain).to.include({ affectedRows: 0 });
        await changed.close();
      });
    }
  });
}

function endpointOf(place: string): string {
  return /[0-9.]+:[0-9]+/.exec(place)![0];
}

/** Resolves when a transaction in the database waits for a row lock of another transaction. */
async function untilWaiting({ dialect }: Database, connection: SqlConnection): Promise<void> {
  // Does not read MariaDB's table innodb_trx, because its content is up to 100 ms old.
  const text =
    dialect === 'postgres'
      ? `SELECT 1 AS one FROM pg_locks WHERE NOT granted`
      : `SELECT 1 AS one FROM information_schema.global_status WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS' AND variable_value > 0`;
  const request = async (): Promise<void> => {
    if ((await connection.rows({ text, values: [] })).length === 0) throw new Error('nobody waits');
  };
  await until(request, { what: 'a claim waits for its rival', withinMs: 5_000 });
}
