import type { Backend, Ownership } from '@queuelock/core';
import { Link } from './link.ts';

/** What a contender tells the process that started it with an IPC channel, besides its history. `t` is as there. */
export type Report =
  | { readonly kind: 'budget'; readonly t: string; readonly remainingMs: number }
  /** The store has told it something about its place: it was woken. */
  | { readonly kind: 'told'; readonly t: string; readonly admitted: boolean };

/** What that process may want of it: to end its hold now, in order; to be cut off from the store; to be connected again. */
export type Order = 'release' | 'cut' | 'mend';

/** The process that has started this one. */
export interface Parent {
  /** Put between the client and its backend, so that the parent sees what comes over it, and can cut it. */
  readonly way: (backend: Backend) => Backend;
  /** Reports the budget of a hold until the hold ends; the answer aborts when the parent wants it to. */
  readonly follow: (ownership: Ownership) => AbortSignal;
}

const EVERY_MS = 100;

/** `undefined` where nobody listens. */
export function parentOf(stamp: () => string): Parent | undefined {
  if (!process.connected) return undefined;
  let hold = new AbortController();
  const link = new Link(({ admitted }) => {
    tell({ kind: 'told', t: stamp(), admitted });
  });
  const obey: Record<Order, () => void> = {
    release: () => {
      hold.abort();
    },
    cut: () => {
      link.cut();
    },
    mend: () => {
      link.mend();
    },
  };
  process.on('message', (order) => {
    obey[order as Order]();
  });
  return {
    way: link.through,
    follow(ownership) {
      hold = new AbortController();
      reportBudget(ownership, stamp);
      return hold.signal;
    },
  };
}

function reportBudget(ownership: Ownership, stamp: () => string): void {
  const report = (): void => {
    if (!process.connected || !ownership.held) {
      clearInterval(timer);
      return;
    }
    tell({ kind: 'budget', t: stamp(), remainingMs: ownership.remainingMs });
  };
  const timer = setInterval(report, EVERY_MS);
  timer.unref();
  report();
}

function tell(report: Report): void {
  if (process.connected) process.send?.(report);
}
