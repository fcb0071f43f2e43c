import { requireMethods } from '@queuelock/core/backend';

/** The npm package that a client belongs to. */
export type ClientLibrary = 'ioredis' | 'redis';

/** The methods of a client that the drivers call. */
const METHODS: Readonly<Record<ClientLibrary, readonly string[]>> = {
  ioredis: ['call', 'connect', 'disconnect', 'duplicate', 'on', 'subscribe', 'unsubscribe'],
  // destroy() exists since version 5 of npm redis, so a client of version 4 is refused.
  redis: ['connect', 'destroy', 'duplicate', 'on', 'sendCommand', 'subscribe', 'unsubscribe'],
};

/** Names the kinds of clients that callers may pass. Part of error messages. */
export const RULE = 'is a client of npm redis (version 5 or 6) or a connection of ioredis (version 5 or 6)';

/** @throws {QueueLockError} `INVALID_ARGUMENT` when a method is missing */
export function checkMethods(client: object, library: ClientLibrary): void {
  requireMethods(client, {
    argument: 'client',
    methods: METHODS[library],
    what: 'an object',
    rule: (missing) => `${RULE}, which has ${missing}()`,
  });
}
