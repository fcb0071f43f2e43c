import { startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { NotHere, type ProcessService } from '@queuelock/harness/services/service';
import { until } from '@queuelock/harness/services/until';
import { Operator } from './operator.ts';

const DATABASE = 'locks';

/**
 * A MariaDB server with an empty database for one suite. The constructor defines the hooks of the suite. On a
 * machine without MariaDB the suite is skipped.
 */
export class OwnServer {
  server!: ProcessService;
  operator!: Operator;

  constructor() {
    // oxlint-disable-next-line typescript/no-this-alias -- mocha has its own in the hook
    const own = this;
    before(async function () {
      this.timeout(120_000);
      try {
        own.server = await startMariaDb();
      } catch (error) {
        if (!(error instanceof NotHere)) throw error;
        this['skipReason'] = error.message;
        this.skip();
      }
      await own.reconnect();
    });
    after(async () => {
      // The server and the operator's connection are undefined if the suite was skipped.
      await Promise.all([this.operator, this.server].filter(Boolean).map((each) => end(each)));
    });
  }

  get url(): string {
    return `mysql://root@${this.server.endpoint}/${DATABASE}`;
  }

  async reconnect(): Promise<void> {
    this.operator = await Operator.connect(this.server.endpoint, DATABASE);
  }

  /** Repeats an SQL query until it returns the number `count`. */
  async until(sql: string, count: number): Promise<void> {
    const read = async (): Promise<void> => {
      const found = await this.operator.number(sql);
      if (found !== count) throw new Error(`${sql}: ${found}`);
    };
    await until(read, { what: `${count} by ${sql}`, withinMs: 30_000 });
  }
}

async function end(each: Operator | ProcessService): Promise<void> {
  await (each instanceof Operator ? each.close() : each.stop());
}
