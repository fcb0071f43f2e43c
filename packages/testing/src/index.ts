export type { EffectOptions, StaleEffect } from './effects.ts';
export type { Network } from './network.ts';
export { createTestStore, type TestStore } from './test-store.ts';
export type { TestClient, TestClientOptions } from './test-client.ts';
