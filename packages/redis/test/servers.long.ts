// Runs the conformance suite on servers that the short test run does not have: Redis 8 and Valkey.
import { describeBackend } from '@queuelock/conformance';
import { startNewerRedis } from '@queuelock/harness/services/redis-process';
import { shareService } from '@queuelock/harness/services/shared';
import { harness } from './harness.ts';

const SERVERS = {
  'Redis 8': shareService('Redis 8', () => startNewerRedis('redis-server')),
  Valkey: shareService('Valkey', () => startNewerRedis('valkey-server')),
};

describe('@queuelock/redis', () => {
  for (const [name, server] of Object.entries(SERVERS))
    describeBackend({ ...harness(`conformance-${name}`, server), name, expiryGranularityMs: 8_000 });
});
