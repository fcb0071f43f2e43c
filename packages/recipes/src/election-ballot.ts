import type { ClaimOptions, Clock, LockClient, Ownership } from '@queuelock/core';
import type { Office } from './election-office.ts';
import { Term } from './election-term.ts';
import type { ElectionErrors } from './election-errors.ts';

/** Options of a candidacy. With an `id` it takes over an entry that still shows the value of an earlier process. */
export type Stand = Required<Pick<ClaimOptions, 'value'>> & Pick<ClaimOptions, 'id'>;

/** The arguments of all candidacies of one `election`, and the records of their terms and errors. */
export class Ballot {
  readonly client: LockClient;
  readonly name: string;
  readonly office: Office;
  readonly troubles: ElectionErrors;
  /** Measures the backoff and the length of terms. */
  readonly clock: Clock;
  readonly #value: string;
  /** Id of the entry to take over, for the first candidacy. */
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

  /** Returns the term of an elected candidate. An entry that was taken over gets the new value first. */
  async elected(ownership: Ownership, { value, id }: Stand): Promise<Term> {
    const term = new Term(ownership, value);
    if (id !== undefined) await term.proclaim(value);
    this.office.enter(term);
    return term;
  }
}

type Records = Pick<Ballot, 'office' | 'troubles' | 'clock'>;
