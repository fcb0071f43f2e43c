import type { OpenRenewer } from '@queuelock/core/backend';
import type { EtcdOptions } from './api/options.ts';
import { etcdRenewer } from './backend.ts';
import type { SessionIdentity } from './renewers.ts';

/** Creates the object that sends the heartbeats of a session. This module runs in the heartbeat thread. */
export const openRenewer: OpenRenewer = ({ options, session }) =>
  etcdRenewer(options as EtcdOptions, session as SessionIdentity);
