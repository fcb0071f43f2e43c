import type { OpenRenewer } from '@queuelock/core/backend';
import { etcdRenewer } from './backend.ts';
import type { RenewerData } from './renewers.ts';

/** Creates the object that sends the heartbeats of a session. This module runs in the heartbeat thread. */
export const openRenewer: OpenRenewer = (data) => etcdRenewer(data as RenewerData);
