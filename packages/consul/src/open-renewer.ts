import type { OpenRenewer } from '@queuelock/core/backend';
import { settingsOf, type ConsulOptions } from './api/options.ts';
import { ConsulRenewer, type SessionIdentity } from './session/renewer.ts';

/** Creates the object that sends the heartbeats of a session. This module runs in the heartbeat thread. */
export const openRenewer: OpenRenewer = ({ options, session }) =>
  new ConsulRenewer(settingsOf(options as ConsulOptions), session as SessionIdentity);
