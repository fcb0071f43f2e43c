import { createLockClient, type BackendInfo } from '@queuelock/core';
import { backendFromUrl } from '../backends.ts';
import { ContenderProcess } from './contender-process.ts';
import type { Stage, StageSettings } from './stage.ts';

/** Or what the server accepts at least. */
const TTL_MS = 3_000;
const GAP_MS = 50;

export interface ProcessStageSettings extends StageSettings {
  /** As the user gave it. */
  readonly url: string;
  /** It is a file that is there for the demo only. */
  readonly isOwnFile: boolean;
}

/**
 * Every contender is a process of its own.
 * @throws what keeps the server from being used, so that it is told once and not by every contender
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
    place: isOwnFile ? 'sqlite: (a file, and a process each)' : `${backend.info.endpoint} (a process each)`,
    seesDeaths: backend.info.authority === 'host',
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

/** As short as it may be for people to see it end. */
export function ttlSecondsOn({ minTtlMs }: Pick<BackendInfo, 'minTtlMs'>): number {
  return Math.ceil(Math.max(TTL_MS, minTtlMs) / 1000);
}
