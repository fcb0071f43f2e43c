import { createLockClient, type LockClient } from '@queuelock/core';
import { backendFromUrl } from './backends.ts';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';

export interface ClientSettings {
  readonly backend: string | undefined;
  readonly ttlMs: number;
  readonly owner: string;
}

/** A client of the backend that the URL names. */
export async function openClient({ backend: url, ttlMs, owner }: ClientSettings): Promise<LockClient> {
  const backend = await backendFromUrl(url);
  const { minTtlMs, name } = backend.info;
  try {
    if (ttlMs < minTtlMs) {
      const least = String(Math.ceil(minTtlMs / 1000));
      const message = `--ttl ${String(ttlMs / 1000)} is too short: ${name} needs at least ${least} seconds`;
      throw new Failure(message, { exitCode: EXIT.usage });
    }
    return createLockClient(backend, { ttlMs, owner });
  } catch (error) {
    await backend.close();
    throw error;
  }
}
