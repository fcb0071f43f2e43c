import type { OpenRenewer } from '@queuelock/core/backend';
import { etcdRenewer } from './backend.ts';
import type { RenewerData } from './renewers.ts';

/** Opens what sends the heartbeats of a session, in the heartbeat thread. */
export const openRenewer: OpenRenewer = (data) => etcdRenewer(data as RenewerData);
