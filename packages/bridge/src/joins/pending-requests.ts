import type { HandoverRequest, Ownership, QueueState } from '@queuelock/core';
import { invalidArgument } from '@queuelock/core/backend';
import { follow } from '../follow.ts';
import { Subscription, type Observable } from '../rx.ts';
import type { HandoverSnapshot, JoinAnswer } from '../wire.ts';

/**
 * The handover requests to one holder that it has not answered and that the requesters have not withdrawn.
 */
export class PendingRequests {
  readonly #ownership: Ownership;
  readonly #queue$: Observable<QueueState>;
  /** Handover requests by the id of the requesting entry. */
  readonly #requests = new Map<string, HandoverRequest>();
  #onChange: () => void = () => undefined;

  constructor(ownership: Ownership, queue$: Observable<QueueState>) {
    this.#ownership = ownership;
    this.#queue$ = queue$;
  }

  get snapshots(): readonly HandoverSnapshot[] {
    return [...this.#requests].map(([from, { from: entry, reason, withinMs }]) => ({
      from,
      owner: entry.owner,
      reason,
      withinMs,
    }));
  }

  watch(onChange: () => void): Subscription {
    this.#onChange = onChange;
    const watches = new Subscription();
    watches.add(
      follow(this.#ownership.requests$, (request) => {
        this.#requests.set(request.from.id ?? request.from.key, request);
        onChange();
      }),
    );
    watches.add(
      follow(this.#queue$, (queue) => {
        if (this.#dropWithdrawn(queue)) onChange();
      }),
    );
    return watches;
  }

  /**
   * Sends the holder's response to the requester, which the id of its entry (`to`) names.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when no request of an entry with this id is pending; the
   *   error of the store when it refuses the answer.
   */
  async answer({ to, answer, reason = 'no' }: JoinAnswer): Promise<void> {
    const request = this.#requests.get(to);
    if (!request) throw invalidArgument('to', to, 'is the id of an entry with a pending request');
    this.#requests.delete(to);
    this.#onChange();
    if (answer === 'decline') await request.decline(reason);
    else if (answer === 'pass') await request.yieldToRequester();
    else await request.yieldToQueue();
  }

  #dropWithdrawn({ status, entries }: QueueState): boolean {
    if (status !== 'live') return false;
    const present = new Set(entries.map(({ id, key }) => id ?? key));
    const withdrawn = [...this.#requests.keys()].filter((from) => !present.has(from));
    for (const from of withdrawn) this.#requests.delete(from);
    return withdrawn.length > 0;
  }
}
