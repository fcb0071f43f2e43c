// This entry point is for browsers, so it imports no `node:` modules.
export { createBridgeClient } from './client/client.ts';
export { BridgeError } from './client/bridge-error.ts';
export type {
  BridgeClient,
  BridgeClientOptions,
  BridgeHeaders,
  ClientClock,
  Connection,
  JoinOptions,
  JoinState,
  PageClaimState,
  PageLock,
  Observed,
} from './client/api.ts';
export type * from './wire.ts';
