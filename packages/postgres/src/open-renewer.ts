import type { OpenRenewer } from '@queuelock/core/backend';
import { settingsOf, type PostgresOptions } from './api/options.ts';
import { PostgresRenewer, type SessionIdentity } from './session/renewer.ts';

/** Creates the object that sends the heartbeats of a session. This module runs in the heartbeat thread. */
export const openRenewer: OpenRenewer = ({ options, session }) =>
  new PostgresRenewer(settingsOf(options as PostgresOptions), session as SessionIdentity);
