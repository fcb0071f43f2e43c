/**
 * One SQL statement. Run it with `client.query(statement)` of `pg`, `connection.execute(text, values)` of `mysql2`, or
 * `db.prepare(text).run(...values)`.
 */
export interface SqlStatement {
  readonly text: string;
  /** The values of the placeholders, in order. Tokens are decimal text, which no driver rounds. */
  readonly values: unknown[];
  /** Is true for a select. Some drivers run a select by another method than an update. */
  readonly reads?: true;
}

/** A statement that writes behind a fence, with what `sqlOutcome` needs if it was not accepted. */
export interface FencedStatement extends SqlStatement {
  readonly refusal: {
    /** Selects the largest token as `token`. */
    readonly query: SqlStatement;
    readonly name?: string;
    /** The token of the hold as decimal text, so that the statement can be logged as JSON. */
    readonly token: string;
    /** Whether a second effect of the hold is refused too. */
    readonly once: boolean;
    /** Describes the resource that refuses the write. */
    readonly resource: string;
    /** The outcome when the row does not exist. */
    readonly outcomeIfAbsent: 'missing' | 'unregistered';
  };
}

/** Collects the values of a statement while its text is written. */
export class Parameters {
  readonly values: unknown[] = [];
  readonly #numbered: boolean;

  constructor(numbered: boolean) {
    this.#numbered = numbered;
  }

  /** Adds a value and returns its placeholder. */
  add(value: unknown): string {
    this.values.push(value);
    return this.#numbered ? `$${String(this.values.length)}` : '?';
  }
}
