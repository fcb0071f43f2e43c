export { createBridge, type Bridge } from './bridge.ts';
export { nodeListener, serve, type Handler, type ServeOptions, type Served } from './node-server.ts';
export type { ClientFacts, ConnectionFacts } from './limits/client-id.ts';
export type { BridgeLimits, ClientLimits } from './limits/options.ts';
export type { Action, Authorize, BridgeOptions, BridgeTimes, Contenders, Identity } from './options.ts';
