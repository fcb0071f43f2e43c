import type { OpenRenewer } from '@queuelock/core/backend';
import { EtcdBackend } from './backend.ts';
import type { SentOptions, SessionIdentity } from './renewers.ts';
import { driverOf } from './wire/transport.ts';

/** Creates the renewer that sends the heartbeats of a session. The heartbeat thread imports this module. */
export const openRenewer: OpenRenewer = ({ options, session }) => {
  const { files, ...given } = options as SentOptions;
  const { lease, owner } = session as SessionIdentity;
  return new EtcdBackend({ given, drive: driverOf, files, owner }).renewerOf(lease);
};
