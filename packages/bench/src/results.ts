import type { Cell } from './cells.ts';
import type { Client } from './client.ts';
import type { Values } from './measure.ts';
import { medians } from './stats.ts';

/**
 * The results of one client in all rounds of one cell, which is one scenario at one size on one kind of
 * server.
 */
export interface Result {
  readonly cell: Cell;
  readonly client: string;
  readonly kind: Client['kind'];
  readonly transport: string;
  readonly rounds: readonly Values[];
}

type Measured = Pick<Client, 'name' | 'kind' | 'transport'>;

/** Conditions for results: a result matches if it has the value of each property that is set. */
export type Which = Partial<Cell> & Partial<Pick<Result, 'client' | 'kind' | 'transport'>>;

/** The results of all rounds so far. */
export class Results {
  readonly #all = new Map<string, { readonly result: Result; readonly rounds: Values[] }>();

  add(cell: Cell, { name: client, kind, transport }: Measured, values: Values): void {
    const key = JSON.stringify([cell, client]);
    const found = this.#all.get(key);
    if (found) found.rounds.push(values);
    else {
      const rounds = [values];
      this.#all.set(key, { result: { cell, client, kind, transport, rounds }, rounds });
    }
  }

  get all(): Result[] {
    return [...this.#all.values()].map(({ result }) => result);
  }

  matching(which: Which): Result[] {
    const { client, kind, transport, ...cell } = which;
    const wanted = Object.entries({ client, kind, transport }).filter(([, value]) => value !== undefined);
    return this.all.filter(
      (result) =>
        wanted.every(([key, value]) => Object.entries(result).some(([k, v]) => k === key && v === value)) &&
        Object.entries(cell).every(([key, value]) => valueOf(result.cell, key) === value),
    );
  }

  /**
   * Returns the median over all rounds of one result, such as a duration. `which` selects the client and
   * cell; the first match counts. Without `noise`, only cells match in which no other clients write. `key` is
   * the name of the result.
   */
  value(which: Which, key: string): number | undefined {
    const rounds = this.#rounds(which);
    return rounds && medians(rounds)[key];
  }

  /**
   * Returns the sum over all rounds of one result, such as a number of requests. `which` selects the client
   * and cell; the first match counts. `key` is the name of the result.
   */
  total(which: Which, key: string): number | undefined {
    return this.#rounds(which)?.reduce((sum, values) => sum + (values[key] ?? NaN), 0);
  }

  #rounds(which: Which): readonly Values[] | undefined {
    return this.matching(which).find(({ cell }) => cell.noise === which.noise)?.rounds;
  }
}

function valueOf(cell: Cell, key: string): unknown {
  return Object.entries(cell).find(([name]) => name === key)?.[1];
}

/** Divides two results. Returns `undefined` if one of them is missing. */
export function ratio(value: number | undefined, to: number | undefined): number | undefined {
  return value === undefined || to === undefined ? undefined : value / to;
}
