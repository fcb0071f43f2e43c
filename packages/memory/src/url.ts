import { invalidArgument, parseBackendUrl, type Backend } from '@queuelock/core/backend';
import { createMemoryServer, memory } from './backend.ts';
import type { MemoryServer } from './memory-server.ts';

const servers = new Map<string, MemoryServer>();

/**
 * Creates a backend that connects to a memory server of this process, and creates the server if there is
 * none. The URL `memory:NAME` names the server; `memory:` means an empty name. The same URL means the same
 * server for as long as the process lives.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for another URL
 */
export function fromUrl(url: string): Backend {
  const { scheme, hosts, path, params, display } = parseBackendUrl(url);
  if (scheme !== 'memory' || hosts.length > 0 || params.size > 0) {
    throw invalidArgument('URL', display, 'is written memory: or memory:NAME');
  }
  const server = servers.get(path) ?? createMemoryServer({ name: path });
  servers.set(path, server);
  return memory({ server });
}
