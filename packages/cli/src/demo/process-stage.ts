import { createLockClient, type BackendInfo } from '@queuelock/core';
import { backendFromUrl } from '../backends.ts';
import { ContenderProcess } from './contender-process.ts';
import type { Stage, StageSettings } from './stage.ts';

/** Lease TTL of the contenders, in milliseconds. A longer TTL is used if the server requires it. */
const TTL_MS = 3_000;
const GAP_MS = 50;

export interface ProcessStageSettings extends StageSettings {
  /** URL of the store, as the user entered it. */
  readonly url: string;
  /** Whether the store is a temporary file of this demo. */
  readonly isOwnFile: boolean;
}

/**
 * Connects to the store, and returns a stage that runs every contender in its own process.
 * @throws the server's error if the server cannot be used. Without this check, every contender would report
 *   that error
 */
export async function openProcessStage({ isOwnFile, ...settings }: ProcessStageSettings): Promise<Stage> {
  const backend = await backendFromUrl(settings.url);
  const observer = createLockClient(backend, { owner: 'observer' });
  try {
    await (await observer.tryAcquire(`${settings.name}-check`))?.release();
  } catch (error) {
    await observer.close();
    throw error;
  }
  const ttlSeconds = ttlSecondsOn(backend.info);
  const actors: ContenderProcess[] = [];
  return {
    storeLabel: isOwnFile
      ? 'sqlite: (a file, one process for each contender)'
      : `${backend.info.endpoint} (one process for each contender)`,
    detectsDeath: backend.info.authority === 'host',
    observer,
    enter(part, emit) {
      const actor = new ContenderProcess({ ...settings, ttlSeconds, gapMs: GAP_MS, part, emit });
      actors.push(actor);
      return actor;
    },
    async close() {
      await Promise.all(actors.map((actor) => actor.close()));
      await observer.close();
    },
  };
}

/**
 * Returns the lease TTL of the contenders in seconds: as short as the store permits, but at least 3 s, so
 * that viewers can follow the expiry of a lease.
 */
export function ttlSecondsOn({ minTtlMs }: Pick<BackendInfo, 'minTtlMs'>): number {
  return Math.ceil(Math.max(TTL_MS, minTtlMs) / 1000);
}
