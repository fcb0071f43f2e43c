import { startEtcd, type EtcdOptions } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Operator } from './operator.ts';

type Flags = NonNullable<EtcdOptions['flags']>;

// Who is alone is elected by itself after this time at the latest, at each start.
const ELECTED_SOON = { 'heartbeat-interval': 20, 'election-timeout': 200 };

/** Such a server, and somebody who may do everything on it, for the suite that makes this; defines its hooks. */
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

/** Starts a server for a suite alone, to which it may do what it likes. It grants times to live from one second on, not two. */
export function startOwnServer(flags: Flags = {}): Promise<ProcessService> {
  return startEtcd({ way: 'process', flags: { ...ELECTED_SOON, ...flags } });
}
