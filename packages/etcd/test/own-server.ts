import { startEtcd, type EtcdOptions } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Operator } from './operator.ts';

type Flags = NonNullable<EtcdOptions['flags']>;

// Settings with short timeouts, so that a server of a single member elects itself soon after each start.
const ELECTED_SOON = { 'heartbeat-interval': 20, 'election-timeout': 200 };

/** A server for one suite, with an operator. The constructor registers the Mocha hooks of that suite. */
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

/** Starts a server that only one suite uses, so that it may be harmed. It grants TTLs from 1 s. */
export function startOwnServer(flags: Flags = {}): Promise<ProcessService> {
  return startEtcd({ way: 'process', flags: { ...ELECTED_SOON, ...flags } });
}
