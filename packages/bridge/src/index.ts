export { createBridge, type Bridge } from './bridge.ts';
export { nodeListener, serve, type Handler, type ServeOptions, type Served } from './node-server.ts';
export type {
  Action,
  Authorize,
  BridgeLimits,
  BridgeOptions,
  BridgeTimes,
  Contenders,
  Identity,
} from './options.ts';
