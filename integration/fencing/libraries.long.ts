import {
  expectAccepted,
  fencedUpdate,
  sqlFences,
  sqlOutcome,
  type FencingHold,
  type SqlQuery,
} from '@queuelock/fencing';
import { mariaDbAccess, startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { expect } from 'chai';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import { LIBRARIES, type LibraryConnection } from './libraries.ts';
import { removePrismaClients } from './prisma-client.ts';

/** A fencing token that a JavaScript number cannot represent exactly. The tests use it to detect rounding. */
const BIG = 2n ** 62n + 1n;

const SERVERS = {
  postgres: {
    name: 'PostgreSQL',
    start: startPostgres,
    placeOf: postgresUrl,
    async connect(place: string) {
      const client = new Client({ connectionString: place });
      await client.connect();
      return {
        run: async (text: string) => (await client.query<{ id: string }>(text)).rows,
        end: () => client.end(),
      };
    },
  },
  mysql: {
    name: 'MariaDB',
    start: startMariaDb,
    placeOf: ({ endpoint }: ProcessService) => endpoint,
    async connect(place: string) {
      const client = await createConnection(mariaDbAccess({ endpoint: place }));
      return {
        run: async (text: string) => (await client.query(text))[0] as { id: string }[],
        end: () => client.end(),
      };
    },
  },
} as const;

for (const [dialect, database] of Object.entries(SERVERS)) {
  describe(`a fence in a transaction on ${database.name}`, function () {
    this.timeout(180_000);
    let server: ProcessService;
    let admin: Awaited<ReturnType<(typeof database)['connect']>>;

    before(async () => {
      server = await database.start();
      admin = await database.connect(database.placeOf(server));
    });
    after(async () => {
      await admin.end();
      await server.stop();
      removePrismaClients();
    });

    for (const library of LIBRARIES.filter((one) => one.dialect === dialect)) {
      describe(`with ${library.name}`, () => {
        const fences = sqlFences(library.dialect, 'fences');
        let connection: LibraryConnection;

        const insert = (query: SqlQuery, id: string): unknown => {
          const text = `INSERT INTO payments (id) VALUES (${library.dialect === 'postgres' ? '$1' : '?'})`;
          const strings = ['INSERT INTO payments (id) VALUES (', ')'];
          return query({ text, strings: Object.assign(strings, { raw: strings }), values: [id] });
        };
        const payments = async (): Promise<readonly string[]> =>
          (await admin.run('SELECT id FROM payments ORDER BY id')).map(({ id }) => id);
        /**
         * Records the hold's token in the fence and inserts a payment, in one transaction. With `claimFirst`
         * set to false, it inserts the payment first.
         */
        const pay = (hold: FencingHold<'name' | 'token'>, id: string, claimFirst = true): Promise<void> =>
          connection.transaction(async (query) => {
            if (!claimFirst) await insert(query, id);
            await expectAccepted(sqlOutcome(query, fences.claim(hold)));
            if (claimFirst) await insert(query, id);
          });

        before(async () => {
          connection = await library.open(database.placeOf(server));
        });
        after(() => connection.close());

        beforeEach(async () => {
          for (const table of ['fences', 'payments', 'accounts'])
            await admin.run(`DROP TABLE IF EXISTS ${table}`);
          await admin.run('CREATE TABLE payments (id varchar(40) PRIMARY KEY)');
          await Promise.all(Array.from({ length: 5 }, async () => connection.query(fences.createTable())));
        });

        it('accepts the first token of a name, and the same token again', async () => {
          await pay({ name: "customer/7'?$1", token: BIG }, 'first');
          await pay({ name: "customer/7'?$1", token: BIG }, 'second');
          await pay({ name: 'customer/8', token: 1n }, 'other');
          expect(await payments()).to.deep.equal(['first', 'other', 'second']);
        });

        it('rejects a late write of an earlier holder, and rolls its transaction back', async () => {
          await pay({ name: 'jobs', token: BIG }, 'current');
          for (const claimFirst of [true, false]) {
            const late = await pay({ name: 'jobs', token: BIG - 1n }, 'late', claimFirst).catch(
              (error: unknown) => error,
            );
            expect(late).to.include({ code: 'OWNERSHIP_LOST' });
            expect(String(late)).to.include(`a later holder wrote there, with token ${BIG}`);
          }
          await pay({ name: 'jobs', token: BIG }, 'still current');
          expect(await payments()).to.deep.equal(['current', 'still current']);
        });

        it('does not count a token whose transaction was rolled back', async () => {
          const failed = connection.transaction(async (query) => {
            await expectAccepted(sqlOutcome(query, fences.claim({ name: 'jobs', token: 9n })));
            throw new Error('the work fails');
          });
          expect(String(await failed.catch((error: unknown) => error))).to.include('the work fails');
          await pay({ name: 'jobs', token: 8n }, 'earlier');
          expect(await payments()).to.deep.equal(['earlier']);
        });

        it('accepts the first tokens of several new names at the same time', async () => {
          const names = Array.from({ length: 20 }, (_, nth) => `customer/${nth}`);
          await Promise.all(names.map((name) => pay({ name, token: 1n }, name)));
          expect(await payments()).to.deep.equal(names.toSorted());
        });

        it('reports one changed row for a fenced update', async () => {
          await admin.run('CREATE TABLE accounts (id int PRIMARY KEY, fence bigint NOT NULL DEFAULT 0)');
          await admin.run('INSERT INTO accounts (id) VALUES (7)');
          const write = (token: bigint, id = 7): Promise<{ readonly outcome: string }> => {
            const hold = { name: 'accounts', token };
            const update = fencedUpdate(library.dialect, { table: 'accounts', set: {}, where: { id }, hold });
            return connection.transaction((query) => sqlOutcome(query, update));
          };
          expect((await write(BIG)).outcome).to.equal('accepted');
          expect((await write(BIG)).outcome).to.equal('accepted');
          expect(await write(BIG - 1n)).to.include({ outcome: 'refused', largest: BIG });
          expect((await write(BIG, 8)).outcome).to.equal('missing');
        });
      });
    }
  });
}

describe('the table of fences on PostgreSQL', function () {
  this.timeout(120_000);
  let server: ProcessService;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  it('is created once when 20 sessions create it at the same time, in ten rounds', async () => {
    const clients = Array.from({ length: 20 }, () => new Client({ connectionString: postgresUrl(server) }));
    await Promise.all(clients.map((client) => client.connect()));
    for (let round = 0; round < 10; round += 1) {
      const fences = sqlFences('postgres', ['public', `fen"ces'${round}`]);
      await Promise.all(clients.map((client) => client.query(fences.createTable())));
      await clients[0]!.query(fences.migration());
    }
    await Promise.all(clients.map((client) => client.end()));
  });

  it('lets a client without the right to create tables call `createTable` when the table exists', async () => {
    const client = new Client({ connectionString: postgresUrl(server) });
    await client.connect();
    await client.query(sqlFences('postgres').migration());
    await client.query(
      'create role app; grant select, insert, update on queuelock_fences to app; set role app',
    );
    await client.query(sqlFences('postgres').createTable());
    const query: SqlQuery = (statement) => client.query(statement);
    const claim = sqlFences('postgres').claim({ name: 'jobs', token: 1n });
    expect(await sqlOutcome(query, claim)).to.deep.equal({ outcome: 'accepted' });
    await client.end();
  });
});
