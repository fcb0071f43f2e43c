import { within } from './deadline.ts';
import { Detour } from './detour.ts';
import type { Experiment, WorkerOptions } from './experiment.ts';
import type { IsRequest } from './wire-protocol.ts';
import type { WorkerProcess } from './worker-process.ts';

const SEEN_WITHIN_MS = 10_000;

export interface Theft {
  /** Makes the worker send the request whose reply is to be lost. Omitted if the worker sends it anyway. */
  readonly by?: () => void;
  /**
   * Resolves when the store has executed the request whose reply is to be lost. Default: waits for the first
   * bytes of the response.
   */
  readonly done?: () => Promise<unknown>;
}

/** Workers that reach the members through proxies. The proxies drop some replies. */
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
   * Lets the store execute the victim's next request that matches, drops the reply, and cuts the connection.
   * Resolves with a function that lets the victim, a worker, connect again. Until the test calls it, the
   * worker stays disconnected.
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
