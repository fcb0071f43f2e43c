import { startEtcd, type EtcdOptions } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Operator } from './operator.ts';

type Flags = NonNullable<EtcdOptions['flags']>;

// Settings with short timeouts, so that a server of a single member elects itself soon after each start.
const ELECTED_SOON = { 'heartbeat-interval': 20, 'election-timeout': 200 };

/** A server that one suite uses, and an operator, who changes its keys directly. The constructor registers the Mocha hooks of that suite. */
export class OwnServer {
  server!: ProcessService;
  operator!: Operator;

  constructor(flags: Flags = {}) {
    before(async () => {
      this.server = await startOwnServer(flags);
      this.operator = new Operator(this.server.endpoint);
    });
    after(async () => {
      this.operator.close();
      await this.server.stop();
    });
  }
}

/** Starts a server that only one suite uses, so that its tests may kill it or fill its store. It grants TTLs from 1 s. */
export function startOwnServer(flags: Flags = {}): Promise<ProcessService> {
  return startEtcd({ way: 'process', flags: { ...ELECTED_SOON, ...flags } });
}
