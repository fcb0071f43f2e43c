import type { Finding, LockClient } from '@queuelock/core';
import { coversQueue } from '../authorization.ts';
import type { FaultLog } from '../faults.ts';
import type { ServerTime } from '../server-time.ts';
import type { FaultsPicture } from '../wire.ts';
import { pictureOf } from './entry.ts';
import { given } from './given.ts';

/** What findings are made with. */
export interface FindingsTools {
  readonly client: Pick<LockClient, 'examine'>;
  readonly time: ServerTime;
  readonly log: FaultLog;
}

/** What the store's examination has found, with what the bridge has seen go wrong. */
export class Findings {
  readonly #prefix: string;
  readonly #tools: FindingsTools;
  #findings: readonly Finding[] = [];
  #examinedAt: number | undefined;
  #trouble: unknown;

  constructor(prefix: string, tools: FindingsTools) {
    this.#prefix = prefix;
    this.#tools = tools;
  }

  /** Whether anything is known. */
  get isReady(): boolean {
    return this.#examinedAt !== undefined || this.#trouble !== undefined;
  }

  /** Never rejects: that the store cannot be examined is part of the picture. */
  async examine(): Promise<void> {
    const { client, time } = this.#tools;
    try {
      this.#findings = await client.examine(this.#prefix);
      this.#examinedAt = time.now();
      this.#trouble = undefined;
    } catch (error) {
      this.#trouble = error;
    }
  }

  picture(at: number): FaultsPicture {
    const status = this.#trouble === undefined ? 'live' : 'stale';
    return {
      ...pictureOf({ status, trouble: this.#trouble }, at),
      prefix: this.#prefix,
      findings: this.#findings,
      ...given('examinedAt', this.#examinedAt),
      // Of the bridge itself, and of the queues that this topic covers: others may be hidden from its readers.
      faults: this.#tools.log.faults.filter(
        ({ kind, about }) => kind === 'session' || coversQueue(this.#prefix, about),
      ),
    };
  }
}
