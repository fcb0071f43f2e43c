interface Request {
  refused: boolean;
}

/**
 * The enqueues of one session that were sent and have not arrived. A removal refuses those of its id, which makes it
 * final; nothing has to be remembered about ids whose requests have all arrived.
 */
export class UnderWay {
  readonly #requests = new Map<string, Set<Request>>();

  /** A request for these ids leaves; call the answer when it arrives: `false` if one of them was removed meanwhile. */
  send(ids: readonly string[]): () => boolean {
    const request: Request = { refused: false };
    for (const id of ids) this.#requests.set(id, (this.#requests.get(id) ?? new Set()).add(request));
    return () => {
      for (const id of ids) this.#forget(id, request);
      return !request.refused;
    };
  }

  refuse(id: string): void {
    for (const request of this.#requests.get(id) ?? []) request.refused = true;
  }

  #forget(id: string, request: Request): void {
    const siblings = this.#requests.get(id);
    siblings?.delete(request);
    if (siblings?.size === 0) this.#requests.delete(id);
  }
}
