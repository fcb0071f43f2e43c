import type { OpenRenewer } from '@queuelock/core/backend';
import { settingsOf, type RedisOptions } from './api/options.ts';
import { RedisRenewer, type SessionIdentity } from './session/renewer.ts';

/** Creates the object that sends the heartbeats of a session. This module runs in the heartbeat thread. */
export const openRenewer: OpenRenewer = ({ options, session }) =>
  new RedisRenewer(settingsOf(options as RedisOptions), session as SessionIdentity);
