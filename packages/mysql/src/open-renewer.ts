import type { OpenRenewer } from '@queuelock/core/backend';
import { settingsOf, type MysqlOptions } from './api/options.ts';
import { MysqlRenewer, type SessionIdentity } from './session/renewer.ts';

/** Creates the object that sends the heartbeats of a session. This module runs in the heartbeat thread. */
export const openRenewer: OpenRenewer = ({ options, session }) =>
  new MysqlRenewer(settingsOf(options as MysqlOptions), session as SessionIdentity);
