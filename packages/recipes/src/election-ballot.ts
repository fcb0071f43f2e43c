import type { ClaimOptions, Clock, LockClient, Ownership } from '@queuelock/core';
import type { Office } from './election-office.ts';
import { Term } from './election-term.ts';
import type { ElectionErrors } from './election-errors.ts';

/** How a candidate stands. With an `id` it goes on with an entry that shows the value of an earlier process still. */
export type Stand = Required<Pick<ClaimOptions, 'value'>> & Pick<ClaimOptions, 'id'>;

/** Where candidates stand, and what is kept of them. */
export class Ballot {
  readonly client: LockClient;
  readonly name: string;
  readonly office: Office;
  readonly troubles: ElectionErrors;
  /** For the pauses between terms. */
  readonly clock: Clock;
  readonly #value: string;
  /** Of the entry to go on with; for the first who stands. */
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

  /** What the hold of an elected candidate is. */
  async elected(ownership: Ownership, { value, id }: Stand): Promise<Term> {
    const term = new Term(ownership, value);
    if (id !== undefined) await term.proclaim(value);
    this.office.enter(term);
    return term;
  }
}

type Records = Pick<Ballot, 'office' | 'troubles' | 'clock'>;
