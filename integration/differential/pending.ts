import type { Backend } from '@queuelock/core';
import type { Session } from '@queuelock/core/backend';
import { passingOn } from '../chaos/instrumented.ts';

const CHANGES = ['enqueue', 'enqueueAll', 'tryEnqueue', 'update', 'share', 'remove'] as const;

/**
 * Counts the requests that change entries and have no response yet. The end of a claim does not show this: a
 * claim may end before its entry is removed.
 */
export class PendingChanges {
  count = 0;

  /**
   * Returns the backend with sessions that count their requests to change entries until the responses arrive.
   */
  around(backend: Backend): Backend {
    return passingOn(backend, {
      open: async (...args) => this.#session(await backend.open(...args)),
      ...(backend.resume && { resume: async (...args) => this.#session(await backend.resume!(...args)) }),
    });
  }

  #session(session: Session): Session {
    const counted = CHANGES.filter((name) => session[name]).map((name) => [
      name,
      (...args: readonly unknown[]) => this.#counting(session[name] as Change, session, args),
    ]);
    return passingOn(session, Object.fromEntries(counted) as Partial<Session>);
  }

  async #counting(change: Change, session: Session, args: readonly unknown[]): Promise<unknown> {
    this.count += 1;
    try {
      return await change.apply(session, [...args]);
    } finally {
      this.count -= 1;
    }
  }
}

type Change = (this: Session, ...args: unknown[]) => Promise<unknown>;
