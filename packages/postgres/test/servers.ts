import { expect } from 'chai';
import { Client } from 'pg';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { until } from '@queuelock/harness/services/until';

/**
 * A PostgreSQL server for one suite, with a superuser connection to it. The constructor defines the hooks of
 * the suite.
 */
export class OwnServer {
  server!: ProcessService;
  /** A connection with the rights of a superuser. */
  operator!: Client;

  constructor() {
    before('start a PostgreSQL', async () => {
      this.server = await startPostgres();
      await this.reconnect();
    });
    after(async () => {
      await this.operator.end().catch(() => undefined);
      await this.server.stop();
    });
  }

  get url(): string {
    return postgresUrl(this.server);
  }

  /** Opens the superuser connection again after a restart of the server. */
  async reconnect(): Promise<void> {
    this.operator = new Client({ connectionString: this.url });
    // Ignores the error event of the superuser connection, because a test that kills the server ends it too.
    this.operator.on('error', () => undefined);
    await this.operator.connect();
  }

  /** Repeats an SQL query until the first column of its only row equals `value`. */
  async until(text: string, value: unknown): Promise<void> {
    await until(async () => expect(await this.column(text)).to.deep.equal([value]), {
      what: `${text} is ${String(value)}`,
      withinMs: 30_000,
    });
  }

  /** Returns the first column of each row that the query returns. */
  async column(text: string, ...values: readonly unknown[]): Promise<readonly unknown[]> {
    const { rows } = await this.operator.query<Record<string, unknown>>(text, [...values]);
    return rows.map((row) => Object.values(row)[0]);
  }
}
