import { startEtcd, type EtcdOptions } from '../../../integration/services.ts';
import type { ProcessService } from '../../../integration/services/service.ts';

// Who is alone is elected by itself after this time at the latest, at each start.
const ELECTED_SOON = { 'heartbeat-interval': 20, 'election-timeout': 200 };

/** Starts a server for a suite alone, to which it may do what it likes. It grants times to live from one second on, not two. */
export function startOwnServer(flags: NonNullable<EtcdOptions['flags']> = {}): Promise<ProcessService> {
  return startEtcd({ way: 'process', flags: { ...ELECTED_SOON, ...flags } });
}
