import type { LockClient } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import { MemoryStage } from './election-stage.ts';

const STEP_MS = 1;
const LONG_MS = 60;

/** A cancellable call to test, with its preparation and its cleanup. */
export interface Scene<T> {
  /** Prepares the state before the call. Returns a function that undoes the preparation, for instance a release. */
  readonly before?: (stage: MemoryStage) => Promise<() => unknown>;
  readonly attempt: (client: LockClient, signal: AbortSignal, stage: MemoryStage) => Promise<T>;
  /** Undoes the result of a call that succeeded before the signal aborted. */
  readonly undo?: (result: T) => unknown;
}

/**
 * Makes the call of `scene`, a cancellable call to test, again and again. Aborts the first call at the first
 * point at which the client waits for a message, the second call at the second point, and so on.
 * Checks that each call settles, rejects only with the signal's reason, and leaves nothing behind. Returns
 * how many calls rejected because of the abort.
 */
export async function givenUpAtEveryPoint<T>(scene: Scene<T>): Promise<number> {
  let inTime = 0;
  for (let at = 0; ; at++) {
    const { points, isGivenUp } = await play(scene, at);
    if (isGivenUp) inTime += 1;
    if (at > points) return inTime;
  }
}

async function play<T>(
  { before, attempt, undo }: Scene<T>,
  at: number,
): Promise<{ readonly points: number; readonly isGivenUp: boolean }> {
  const stage = new MemoryStage();
  const stop = new AbortController();
  const reason = new Error('given up');
  let points = 0;
  const point = async (): Promise<void> => {
    if (points++ === at) stop.abort(reason);
    await new Promise<void>((resolve) => stage.clock.after(STEP_MS, resolve));
  };
  const intercept: Intercept = async (call, proceed) => {
    if (call === 'close') return proceed();
    await point();
    const response = await proceed();
    await point();
    return response;
  };
  const deliver = (arrive: () => void): void => void point().then(arrive);
  const later = await before?.(stage);
  const client = stage.client({ backend: { intercept, deliver } });
  let outcome: { result: T } | { error: unknown } | undefined;
  attempt(client, stop.signal, stage).then(
    (result) => (outcome = { result }),
    (error: unknown) => (outcome = { error }),
  );
  await stage.clock.advance(LONG_MS);
  void later?.();
  await stage.clock.advance(LONG_MS);
  expect(outcome, `settled at ${at}`).not.to.equal(undefined);
  if ('error' in outcome!) expect(outcome.error, `at ${at}`).to.equal(reason);
  else void undo?.(outcome!.result);
  await stage.clock.advance(LONG_MS);
  expect([stage.server.entryCount, stage.server.watcherCount], `left at ${at}`).to.deep.equal([0, 0]);
  const closing = stage.close();
  await stage.clock.advance(LONG_MS);
  await closing;
  return { points, isGivenUp: 'error' in outcome! };
}
