import {
  checkedOptions,
  invalidArgument,
  type Backend,
  type Finding,
  type KnownOptions,
  type Registers,
} from '@queuelock/core/backend';
import { Link, type LinkOptions } from './link.ts';
import type { MemoryServer, MemoryServerOptions } from './memory-server.ts';
import { historyOf } from './queue-list.ts';
import { Server } from './server.ts';
import { MemorySession } from './session.ts';
import { MIN_TTL_MS } from './sessions.ts';

/** Settings of a memory backend: the server, and the simulated network to it. */
export interface MemoryOptions extends LinkOptions {
  /** The server to connect to. Default: a new server for this backend, which is closed with the backend. */
  readonly server?: MemoryServer;
}

const OPTIONS: KnownOptions<MemoryOptions> = {
  server: 'any',
  latencyMs: 'number',
  intercept: 'function',
  deliver: 'function',
};

const SERVER_OPTIONS: KnownOptions<MemoryServerOptions> = { clock: 'object', name: 'string' };

/**
 * Returns an empty server. Connect to it with `memory({ server })`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an unknown option
 * @example
 * const server = createMemoryServer({ clock: virtualClock() });
 * const [first, second] = [createLockClient(memory({ server })), createLockClient(memory({ server }))];
 */
export function createMemoryServer(options?: MemoryServerOptions): MemoryServer {
  return new Server(checkedOptions('options of createMemoryServer', options, SERVER_OPTIONS));
}

/**
 * Returns a backend inside this process. Clients contend with each other exactly if they share a `server`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an unknown option, a negative latency or a server that `createMemoryServer` did not make
 * @example
 * const client = createLockClient(memory());
 * await client.run('invoices/42', ({ token }) => book({ token }));
 */
export function memory(options?: MemoryOptions): Backend {
  if (options instanceof Server)
    throw invalidArgument('options of memory', options, 'have the server as a property: memory({ server })');
  const given = checkedOptions('options of memory', options, OPTIONS);
  const server = given.server ?? createMemoryServer();
  if (!(server instanceof Server)) throw invalidArgument('server', server, 'comes from createMemoryServer()');
  const link = new Link(server.clock, given);
  return {
    info: {
      name: 'memory',
      endpoint: `memory:${encodeURIComponent(server.name)}`,
      authority: 'process',
      minTtlMs: MIN_TTL_MS,
      defaultTtlMs: 10_000,
    },
    checkName(queue) {
      if (typeof queue !== 'string' || queue === '') {
        throw invalidArgument('queue', queue, 'is a string with at least one character');
      }
    },
    // Does not pass the caller's signal to the link. If the signal made the call reject early, the server
    // would have a session that no client closes.
    open: (ttlMs) => link.call('open', () => new MemorySession(server, link, server.open(ttlMs))),
    resume: (resumption) =>
      link.call('resume', () => new MemorySession(server, link, server.resume(sessionIdIn(resumption)))),
    observe(queue) {
      return link.carry(server.observe(queue));
    },
    evict: (queue, entry) => link.call('evict', () => server.evictFrom(queue, entry)),
    registers: registersOver(link, server),
    queues(prefix) {
      return link.carry(server.observeQueues(prefix));
    },
    history: (queue) => link.call('history', () => historyOf(server.queues().get(queue) ?? [])),
    diagnose: () => link.call('diagnose', () => [fine(server)]),
    async close() {
      link.close();
      if (!given.server) server.close();
    },
  } satisfies Backend;
}

function fine({ name }: MemoryServer): Finding {
  const text =
    'A server in this process: nothing between it and its clients can fail, and it ends with the process.';
  return { level: 'ok', about: `memory:${name}`, text };
}

function registersOver(link: Link, server: Server): Registers {
  const { registers } = server;
  return {
    read: (queue, kind) => link.call('readRegister', () => registers.read(queue, kind)),
    write: (queue, kind, change) => link.call('writeRegister', () => registers.write(queue, kind, change)),
    observe(queue, kind) {
      return link.carry(server.observeRegister(queue, kind));
    },
  } satisfies Registers;
}

function sessionIdIn(resumption: string): string {
  if (/^session-\d+$/.test(resumption)) return resumption;
  throw invalidArgument(
    'resumption',
    resumption,
    'is the text that exportSession() returned for a session of a memory server',
  );
}
