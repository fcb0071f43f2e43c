import { createLockClient, type LockClient } from '@queuelock/core';
import { backendFromUrl } from './backends.ts';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';

export interface ClientSettings {
  readonly backend: string | undefined;
  /** In seconds; without it the backend's own default. */
  readonly ttl: number | undefined;
  readonly owner: string;
}

export interface OpenedClient {
  readonly client: LockClient;
  readonly ttlMs: number;
}

/** A client of the backend that the URL names. */
export async function openClient({ backend: url, ttl, owner }: ClientSettings): Promise<OpenedClient> {
  const backend = await backendFromUrl(url);
  const { minTtlMs, minTtlRule, defaultTtlMs, name } = backend.info;
  const ttlMs = ttl === undefined ? defaultTtlMs : ttl * 1000;
  try {
    if (ttlMs < minTtlMs) {
      const least = String(Math.ceil(minTtlMs / 1000));
      const why = minTtlRule === undefined ? '' : `: ${minTtlRule}`;
      const message = `--ttl ${String(ttlMs / 1000)} is too short: ${name} needs at least ${least} seconds${why}`;
      throw new Failure(message, { exitCode: EXIT.usage });
    }
    return { client: createLockClient(backend, { ttlMs, owner }), ttlMs };
  } catch (error) {
    await backend.close();
    throw error;
  }
}
