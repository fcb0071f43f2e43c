import { createMemoryServer, memory } from '@queuelock/memory';
import { lockFacts } from './facts.ts';
import { describeLocks, type Store } from './frame.ts';

async function memoryStore(): Promise<Store> {
  const server = createMemoryServer();
  return { name: 'memory', ttlMs: 1_000, expiryMs: 200, connect: () => memory({ server }) };
}

describeLocks('memory', memoryStore, lockFacts);
