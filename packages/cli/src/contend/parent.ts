import type { Backend, Ownership } from '@queuelock/core';
import { Link } from './link.ts';

/**
 * Messages of a contender to its parent process over the IPC channel, besides the history that it prints. `t`
 * is a stamp.
 */
export type Report =
  | { readonly kind: 'budget'; readonly t: string; readonly remainingMs: number }
  /** Message that the store has notified the contender about its entry. */
  | { readonly kind: 'notified'; readonly t: string; readonly admitted: boolean };

/**
 * Orders of the parent process to the contender: release the hold, cut the connection to the store, or
 * restore it.
 */
export type Order = 'release' | 'cut' | 'mend';

/** The parent process of a contender. */
export interface Parent {
  /**
   * Wraps the contender's backend, so that the parent is notified of each notification and can cut the
   * connection.
   */
  readonly wrapBackend: (backend: Backend) => Backend;
  /**
   * Sends the remaining time of a hold to the parent until the hold ends. Returns a signal that aborts when
   * the parent orders a release.
   */
  readonly follow: (ownership: Ownership) => AbortSignal;
}

const EVERY_MS = 100;

/** Returns the parent process, or `undefined` when there is no IPC channel. */
export function parentOf(stamp: () => string): Parent | undefined {
  if (!process.connected) return undefined;
  let hold = new AbortController();
  const link = new Link(({ admitted }) => {
    send({ kind: 'notified', t: stamp(), admitted });
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
    wrapBackend: link.wrap,
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
    send({ kind: 'budget', t: stamp(), remainingMs: ownership.remainingMs });
  };
  const timer = setInterval(report, EVERY_MS);
  timer.unref();
  report();
}

function send(report: Report): void {
  if (process.connected) process.send?.(report);
}
