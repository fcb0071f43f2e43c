interface Request {
  refused: boolean;
}

/**
 * Tracks the enqueue requests of one session that have been sent and have not arrived. A removal refuses
 * requests in flight for the same id, so an entry cannot appear after its removal. After a request has
 * arrived, its id is forgotten.
 */
export class UnderWay {
  readonly #requests = new Map<string, Set<Request>>();

  /**
   * Records that an enqueue request for entries with these ids was sent.
   * @returns a function to call when the request arrives. It returns `false` if one of these entries was
   * removed while the request was in flight
   */
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
