import type { ClaimOptions, Clock, LockClient, Ownership } from '@queuelock/core';
import type { Office } from './election-office.ts';
import { Term } from './election-term.ts';
import type { ElectionErrors } from './election-errors.ts';

/**
 * Options of a candidacy. With the `id` of an entry, the candidacy takes over this entry of an earlier
 * process. The entry still has that process's value.
 */
export type Stand = Required<Pick<ClaimOptions, 'value'>> & Pick<ClaimOptions, 'id'>;

/**
 * What all candidacies of one `election` share: the client, the name and the value, and the records of their
 * terms and errors.
 */
export class Ballot {
  readonly client: LockClient;
  readonly name: string;
  readonly office: Office;
  readonly troubles: ElectionErrors;
  /** Source of time for the backoff between candidacies, and for measuring how long a leader has led. */
  readonly clock: Clock;
  readonly #value: string;
  /** Id of the entry that the first candidacy takes over, if any. Later candidacies take over none. */
  #id: string | undefined;

  constructor(client: LockClient, name: string, { value, id, office, troubles, clock }: Stand & Records) {
    this.client = client;
    this.name = name;
    this.office = office;
    this.troubles = troubles;
    this.clock = clock;
    this.#value = value;
    this.#id = id;
  }

  stand(): Stand {
    const id = this.#id;
    this.#id = undefined;
    return { value: this.#value, ...(id === undefined ? {} : { id }) };
  }

  /** Returns the term of an elected candidate. If the candidacy took over an entry of an earlier process, first publishes the candidate's value. */
  async elected(ownership: Ownership, { value, id }: Stand): Promise<Term> {
    const term = new Term(ownership, value);
    if (id !== undefined) await term.proclaim(value);
    this.office.enter(term);
    return term;
  }
}

type Records = Pick<Ballot, 'office' | 'troubles' | 'clock'>;
