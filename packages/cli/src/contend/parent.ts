import type { Ownership } from '@queuelock/core';

/** What a contender tells the process that started it with an IPC channel, besides its history. */
export interface BudgetReport {
  /** As in the history. */
  readonly t: string;
  readonly remainingMs: number;
}

const EVERY_MS = 100;

/** Reports the budget of a hold to the parent until the hold ends. Without a parent that listens it does nothing. */
export function reportBudget(ownership: Ownership, stamp: () => string): void {
  if (!process.connected) return;
  const report = (): void => {
    if (!process.connected || !ownership.held) {
      clearInterval(timer);
      return;
    }
    process.send?.({ t: stamp(), remainingMs: ownership.remainingMs } satisfies BudgetReport);
  };
  const timer = setInterval(report, EVERY_MS);
  timer.unref();
  report();
}

/** A child with an IPC channel must not outlive its parent, and the channel alone must not keep it alive. */
export function onParentGone(listener: () => void): void {
  if (!process.connected) return;
  process.on('disconnect', listener);
  process.channel?.unref();
}
