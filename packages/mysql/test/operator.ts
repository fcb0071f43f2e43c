import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { mariaDbAccess } from '@queuelock/harness/services/mariadb-process';

/** Changes and reads the database directly, as an operator does with other tools. */
export class Operator {
  readonly #connection: Connection;

  /** Creates the database, and connects to it. */
  static async connect(endpoint: string, database: string): Promise<Operator> {
    const connection = await createConnection({ ...mariaDbAccess({ endpoint }), database: 'mysql' });
    await connection.query(`create database if not exists ${database}`);
    await connection.query(`use ${database}`);
    return new Operator(connection);
  }

  private constructor(connection: Connection) {
    this.#connection = connection;
    connection.on('error', () => undefined);
  }

  async run(sql: string): Promise<void> {
    await this.#connection.query(sql);
  }

  async rows<T>(sql: string): Promise<readonly T[]> {
    return (await this.#connection.query<RowDataPacket[]>(sql))[0] as unknown as readonly T[];
  }

  async number(sql: string): Promise<number> {
    const [row] = await this.rows<object>(sql);
    return Number(Object.values(row ?? {})[0]);
  }

  /** Returns how many rows the server reads and writes for the statement. */
  async rowsOf(sql: string): Promise<number> {
    const before = await this.#handled();
    await this.run(sql);
    return (await this.#handled()) - before;
  }

  /**
   * Returns how many rows the server has read and written for this connection so far. The query itself always
   * adds the same number.
   */
  async #handled(): Promise<number> {
    const counters = await this.rows<{ readonly Value: string }>(
      "show session status where variable_name rlike '^handler_(read_.*|write|update|delete)$'",
    );
    return counters.reduce((sum, { Value }) => sum + Number(Value), 0);
  }

  /** Removes an entry by hand, so that no client is notified. */
  async evict(key: string): Promise<void> {
    await this.run(`delete from queuelock_entry where ord = ${Number(key.slice(key.lastIndexOf('/') + 1))}`);
  }

  /** Returns the stored entries of a queue. */
  entries(queue: string): Promise<readonly unknown[]> {
    return this.rows(
      `select ord from queuelock_entry where queue = x'${Buffer.from(queue).toString('hex')}' order by ord`,
    );
  }

  async close(): Promise<void> {
    this.#connection.destroy();
  }
}
