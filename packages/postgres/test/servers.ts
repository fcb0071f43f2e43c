import { Client } from 'pg';
import { postgresUrl, startPostgres } from '../../../integration/services/postgres-process.ts';
import type { ProcessService } from '../../../integration/services/service.ts';

/** A server of the suite that makes it, and somebody who may do everything on it; defines its hooks. */
export class OwnServer {
  server!: ProcessService;
  /** With the rights of the superuser. */
  operator!: Client;

  constructor() {
    before('start a PostgreSQL', async () => {
      this.server = await startPostgres();
      this.operator = new Client({ connectionString: this.url });
      // A test that kills the server kills this, too.
      this.operator.on('error', () => undefined);
      await this.operator.connect();
    });
    after(async () => {
      await this.operator.end().catch(() => undefined);
      await this.server.stop();
    });
  }

  get url(): string {
    return postgresUrl(this.server);
  }

  /** The first column of each row. */
  async column(text: string, ...values: readonly unknown[]): Promise<readonly unknown[]> {
    const { rows } = await this.operator.query<Record<string, unknown>>(text, [...values]);
    return rows.map((row) => Object.values(row)[0]);
  }
}
