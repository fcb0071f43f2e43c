/** One statement: `client.query(statement)` of `pg`, `connection.execute(text, values)` of `mysql2`, `db.prepare(text).run(...values)`. */
export interface SqlStatement {
  readonly text: string;
  /** For the placeholders, in their order. Tokens are decimal text, which no driver rounds. */
  readonly values: unknown[];
  /** True of a select, for drivers that ask it in another way than an update. */
  readonly reads?: true;
}

/** A statement that writes behind a fence, with what `sqlAnswer` needs if it was not accepted. */
export interface FencedStatement extends SqlStatement {
  readonly refusal: {
    /** Selects `token`: the largest one. */
    readonly ask: SqlStatement;
    readonly name?: string;
    /** Of the hold, as decimal text: so the statement can be logged as JSON. */
    readonly token: string;
    /** Whether a second effect of the hold is refused too. */
    readonly once: boolean;
    /** What refuses, in words. */
    readonly place: string;
    /** What it is when there is no such row. */
    readonly absent: 'missing' | 'unregistered';
  };
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
