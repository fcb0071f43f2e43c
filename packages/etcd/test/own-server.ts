import { startEtcd, type EtcdOptions } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Operator } from './operator.ts';

type Flags = NonNullable<EtcdOptions['flags']>;

// Settings with which a single member elects itself soon after each start.
const ELECTED_SOON = { 'heartbeat-interval': 20, 'election-timeout': 200 };

/** A server of its own with an operator, for the suite that creates it. It defines the hooks of the suite. */
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

/** Starts a server that one suite alone uses, so the suite may harm it. It grants TTLs from 1 s on instead of 2 s. */
export function startOwnServer(flags: Flags = {}): Promise<ProcessService> {
  return startEtcd({ way: 'process', flags: { ...ELECTED_SOON, ...flags } });
}
