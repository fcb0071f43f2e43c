/** One statement: `client.query(statement)` of `pg`, `connection.execute(text, values)` of `mysql2`, `db.prepare(text).run(...values)`. */
export interface SqlStatement {
  readonly text: string;
  /** For the placeholders, in their order. Tokens are decimal text, which no driver rounds. */
  readonly values: unknown[];
}

/** Collects the values of a statement while its text is written. */
export class Parameters {
  readonly values: unknown[] = [];
  readonly #numbered: boolean;

  constructor(numbered: boolean) {
    this.#numbered = numbered;
  }

  /** The placeholder for this value. */
  add(value: unknown): string {
    this.values.push(value);
    return this.#numbered ? `$${String(this.values.length)}` : '?';
  }
}
