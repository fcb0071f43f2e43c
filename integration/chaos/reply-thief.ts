import { within } from './deadline.ts';
import { Detour } from './detour.ts';
import type { Experiment, WorkerOptions } from './experiment.ts';
import type { IsRequest } from './wire.ts';
import type { WorkerProcess } from './worker-process.ts';

const SEEN_WITHIN_MS = 10_000;

export interface Theft {
  /** Makes the worker send the request. */
  readonly by?: () => void;
  /** Resolves when the store has done what was asked for. Without it the first bytes that come back are taken for that. */
  readonly done?: () => Promise<unknown>;
}

/** Workers that reach the members through proxies, and the replies that they never hear. */
export class ReplyThief {
  readonly detour: Detour;
  readonly #experiment: Experiment;

  private constructor(detour: Detour, experiment: Experiment) {
    this.detour = detour;
    this.#experiment = experiment;
  }

  static async start(experiment: Experiment): Promise<ReplyThief> {
    return new ReplyThief(await Detour.start(experiment.cluster), experiment);
  }

  addVictim(own: WorkerOptions = {}): Promise<WorkerProcess> {
    return this.#experiment.addWorker({ ...own, detour: this.detour.endpoints });
  }

  /**
   * The request is carried out, its reply does not come, the connection breaks, and the worker gets nothing through any
   * more: until what this resolves with is called.
   */
  async steal(victim: WorkerProcess, isRequest: IsRequest, theft: Theft = {}): Promise<() => Promise<void>> {
    const { by, done } = theft;
    const trap = this.detour.loseNextReply(isRequest);
    const healed = await this.#experiment.fault('reply lost', victim.id, async () => {
      by?.();
      const connection = await within(SEEN_WITHIN_MS, trap.lost, 'the reply is on its way');
      await done?.();
      this.detour.silence(connection);
    });
    return async () => {
      await this.detour.heal();
      healed();
    };
  }
}
