import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { until } from '@queuelock/harness/services/until';
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { Program, endPrograms } from './program.ts';
import { Scratch, blocksOf } from './scratch.ts';

const INSTANCES = 5;
/**
 * Number of a PostgreSQL advisory lock. While the test holds it, a migration waits for it half-way through
 * its changes.
 */
const GATE = 4_711;
const PASS_GATE = `select pg_advisory_xact_lock(${GATE})`;

const AT_GATE = `select from pg_locks join pg_database on pg_database.oid = database
  where datname = current_database() and locktype = 'advisory' and objid = $1 and not granted`;

/**
 * For each tool, writes two migrations below a folder. The second one waits for the advisory lock after its
 * first change.
 */
const TOOLS: Readonly<Record<string, (folder: string) => void>> = {
  knex(folder) {
    const migration = (statements: readonly string[]): string =>
      `exports.up = async (db) => { for (const sql of ${JSON.stringify(statements)}) await db.raw(sql); };
       exports.down = async () => undefined;`;
    writeFileSync(join(folder, '1.cjs'), migration(['create table orders (id int)']));
    writeFileSync(
      join(folder, '2.cjs'),
      migration(['create table lines (id int)', PASS_GATE, 'insert into lines values (1)']),
    );
  },
  drizzle(folder) {
    mkdirSync(join(folder, 'meta'));
    const entries = [1, 2].map((idx) => ({
      idx,
      version: '7',
      when: idx,
      tag: String(idx),
      breakpoints: true,
    }));
    writeFileSync(
      join(folder, 'meta/_journal.json'),
      JSON.stringify({ version: '7', dialect: 'postgresql', entries }),
    );
    const [separator, statements] = [
      '--> statement-breakpoint',
      ['create table lines (id int);', `${PASS_GATE};`],
    ];
    writeFileSync(join(folder, '1.sql'), 'create table orders (id int);');
    writeFileSync(join(folder, '2.sql'), [...statements, 'insert into lines values (1);'].join(separator));
  },
  typeorm(folder) {
    const write = (nth: number, statements: readonly string[]): void => {
      // Ends the name of the migration's class in digits, because TypeORM reads the time of a migration from
      // them.
      const name = `Step${1_700_000_000_000 + nth}`;
      const text = `exports.${name} = class ${name} {
        async up(db) { for (const sql of ${JSON.stringify(statements)}) await db.query(sql); }
        async down() {}
      };`;
      writeFileSync(join(folder, `${nth}.cjs`), text);
    };
    write(1, ['create table orders (id int)']);
    write(2, ['create table lines (id int)', PASS_GATE, 'insert into lines values (1)']);
  },
};

describe('database migrations that one of five instances does', function () {
  this.timeout(180_000);
  const scratch = new Scratch();
  let server: ProcessService;
  let folder: string;
  const gates: Client[] = [];

  before(async () => {
    server = await startPostgres();
  });

  after(async () => {
    await server.stop();
    scratch.remove();
  });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'queuelock-migrations-'));
  });

  afterEach(async () => {
    await endPrograms();
    await Promise.all(gates.splice(0).map((gate) => gate.end()));
    rmSync(folder, { recursive: true });
  });

  for (const [tool, write] of Object.entries(TOOLS)) {
    /**
     * Starts five instances of a program that runs the migrations of a new database under a lock. A migration
     * waits for the advisory lock half-way through. Also returns the client that holds the advisory lock.
     */
    const startAll = async (): Promise<{ readonly gate: Client; readonly instances: readonly Program[] }> => {
      const admin = new Client({ connectionString: postgresUrl(server) });
      await admin.connect();
      const name = `m${process.pid}_${Math.random().toString(36).slice(2)}`;
      await admin.query(`create database ${name}`);
      await admin.end();
      const url = postgresUrl(server).replace(/\/[^/]*$/, `/${name}`);
      const gate = new Client({ connectionString: url });
      gates.push(gate);
      await gate.connect();
      await gate.query('select pg_advisory_lock($1)', [GATE]);
      write(folder);
      const block = blocksOf('EXAMPLES').find(({ file }) => file === `migrate-${tool}.ts`)!;
      const stage = {
        'postgres://postgres@127.0.0.1:5432/postgres': url,
        "'migrations' }": `${JSON.stringify(folder)} }`,
        'migrations/*.cjs': `${folder}/*.cjs`,
        'postgres({ url }))': 'postgres({ url }), { ttlMs: 4_000 })',
      };
      const path = scratch.write(block, stage);
      const instances = Array.from({ length: INSTANCES }, () => new Program(path));
      return { gate, instances };
    };
    const untilAtGate = (gate: Client): Promise<void> =>
      until(
        async () => {
          const { rowCount } = await gate.query(AT_GATE, [GATE]);
          if (rowCount === 0) throw new Error('no migration is in the middle');
        },
        { what: 'a migration in the middle', withinMs: 60_000 },
      );
    const outcomesOf = async (instances: readonly Program[]): Promise<readonly string[]> => {
      const ends = await Promise.all(instances.map((instance) => instance.end()));
      expect(
        ends.map(({ code }) => code),
        instances.map(({ stderr }) => stderr).join('\n'),
      ).to.deep.equal(ends.map(() => 0));
      return instances.map(({ output }) => output).toSorted();
    };
    const rowsOf = async (gate: Client): Promise<unknown> => (await gate.query('select * from lines')).rows;

    it(`block all other instances until they are done, with ${tool}`, async () => {
      const { gate, instances } = await startAll();
      await untilAtGate(gate);
      expect(instances.filter(({ output }) => output !== '').map(({ output }) => output)).to.deep.equal([
        'migrating\n',
      ]);
      await gate.query('select pg_advisory_unlock($1)', [GATE]);
      const done = Array.from({ length: INSTANCES - 1 }, () => 'already-done\n');
      expect(await outcomesOf(instances)).to.deep.equal([...done, 'migrating\nran\n']);
      expect(await rowsOf(gate)).to.deep.equal([{ id: 1 }]);
    });

    it(`are completed by the next instance when the first one is killed in the middle, with ${tool}`, async () => {
      const { gate, instances } = await startAll();
      await untilAtGate(gate);
      const killed = instances.find(({ output }) => output === 'migrating\n')!;
      await killed.end('SIGKILL');
      // Lets the migration of the killed instance continue to its end, because PostgreSQL notices the end of
      // a client only then.
      await gate.query('select pg_advisory_unlock($1)', [GATE]);
      const done = Array.from({ length: INSTANCES - 2 }, () => 'already-done\n');
      const living = instances.filter((instance) => instance !== killed);
      expect(await outcomesOf(living)).to.deep.equal([...done, 'migrating\nran\n']);
      expect(await rowsOf(gate)).to.deep.equal([{ id: 1 }]);
    });
  }
});
