import type { Finding, LockClient } from '@queuelock/core';
import { coversQueue } from '../authorization.ts';
import type { FaultLog } from '../faults.ts';
import type { ServerTime } from '../server-time.ts';
import type { FaultsSnapshot } from '../wire.ts';
import { snapshotOf } from './entry.ts';
import { ifDefined } from './if-defined.ts';

/** The parts of a bridge that are needed for a snapshot of the store's faults. */
export interface FindingsTools {
  readonly client: Pick<LockClient, 'diagnose'>;
  readonly time: ServerTime;
  readonly log: FaultLog;
}

/** Warnings and errors of the store's diagnosis, and failures that the bridge has seen. */
export class Findings {
  readonly #prefix: string;
  readonly #tools: FindingsTools;
  #findings: readonly Finding[] = [];
  #diagnosedAt: number | undefined;
  #error: unknown;

  constructor(prefix: string, tools: FindingsTools) {
    this.#prefix = prefix;
    this.#tools = tools;
  }

  /** Whether at least one diagnosis of the store has finished, also if it failed. */
  get isReady(): boolean {
    return this.#diagnosedAt !== undefined || this.#error !== undefined;
  }

  /** Diagnoses the store. Never rejects: a failed diagnosis is part of the snapshot. */
  async diagnose(): Promise<void> {
    const { client, time } = this.#tools;
    try {
      this.#findings = await client.diagnose(this.#prefix);
      this.#diagnosedAt = time.now();
      this.#error = undefined;
    } catch (error) {
      this.#error = error;
    }
  }

  snapshot(at: number): FaultsSnapshot {
    const status = this.#error === undefined ? 'live' : 'stale';
    return {
      ...snapshotOf({ status, error: this.#error }, at),
      prefix: this.#prefix,
      findings: this.#findings,
      ...ifDefined('diagnosedAt', this.#diagnosedAt),
      // Only faults of the bridge itself and of the queues that this topic covers are shown. The page may
      // not be allowed to see others.
      faults: this.#tools.log.faults.filter(
        ({ kind, about }) => kind === 'session' || coversQueue(this.#prefix, about),
      ),
    };
  }
}
