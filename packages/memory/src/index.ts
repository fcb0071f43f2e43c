export { createMemoryServer, memory, type MemoryOptions } from './backend.ts';
export type { Intercept, LinkOptions, MemoryCall } from './link.ts';
export type { MemoryEntry, MemoryServer, MemoryServerOptions } from './memory-server.ts';
export { fromUrl } from './url.ts';
export { virtualClock, type VirtualClock } from './virtual-clock.ts';
