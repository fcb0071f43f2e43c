import { QueueLockError } from '@queuelock/core/backend';

interface Request {
  refused: boolean;
}

/**
 * The enqueues of one session that were sent and have not arrived. A removal refuses those of its id, which makes it
 * final; nothing has to be remembered about ids whose requests have all arrived.
 */
export class UnderWay {
  readonly #requests = new Map<string, Set<Request>>();

  /** A request leaves; call the answer when it arrives: it throws `ENTRY_LOST` if the id was removed meanwhile. */
  send(id: string): () => void {
    const request: Request = { refused: false };
    const siblings = this.#requests.get(id) ?? new Set();
    this.#requests.set(id, siblings.add(request));
    return () => {
      siblings.delete(request);
      if (siblings.size === 0) this.#requests.delete(id);
      if (request.refused)
        throw new QueueLockError('ENTRY_LOST', `entry ${id} was removed before it arrived`);
    };
  }

  refuse(id: string): void {
    for (const request of this.#requests.get(id) ?? []) request.refused = true;
  }
}
