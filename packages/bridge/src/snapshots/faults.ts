import type { Finding, LockClient } from '@queuelock/core';
import { coversQueue } from '../authorization.ts';
import type { FaultLog } from '../faults.ts';
import type { ServerTime } from '../server-time.ts';
import type { FaultsSnapshot } from '../wire.ts';
import { snapshotOf } from './entry.ts';
import { given } from './given.ts';

/** What findings are made with. */
export interface FindingsTools {
  readonly client: Pick<LockClient, 'diagnose'>;
  readonly time: ServerTime;
  readonly log: FaultLog;
}

/** What the store's diagnosis has found, with what the bridge has seen go wrong. */
export class Findings {
  readonly #prefix: string;
  readonly #tools: FindingsTools;
  #findings: readonly Finding[] = [];
  #diagnosedAt: number | undefined;
  #trouble: unknown;

  constructor(prefix: string, tools: FindingsTools) {
    this.#prefix = prefix;
    this.#tools = tools;
  }

  /** Whether anything is known. */
  get isReady(): boolean {
    return this.#diagnosedAt !== undefined || this.#trouble !== undefined;
  }

  /** Never rejects: that the store cannot be diagnosed is part of the snapshot. */
  async diagnose(): Promise<void> {
    const { client, time } = this.#tools;
    try {
      this.#findings = await client.diagnose(this.#prefix);
      this.#diagnosedAt = time.now();
      this.#trouble = undefined;
    } catch (error) {
      this.#trouble = error;
    }
  }

  snapshot(at: number): FaultsSnapshot {
    const status = this.#trouble === undefined ? 'live' : 'stale';
    return {
      ...snapshotOf({ status, error: this.#trouble }, at),
      prefix: this.#prefix,
      findings: this.#findings,
      ...given('diagnosedAt', this.#diagnosedAt),
      // Of the bridge itself, and of the queues that this topic covers: others may be hidden from its readers.
      faults: this.#tools.log.faults.filter(
        ({ kind, about }) => kind === 'session' || coversQueue(this.#prefix, about),
      ),
    };
  }
}
