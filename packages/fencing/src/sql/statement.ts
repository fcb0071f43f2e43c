/**
 * One SQL statement, in the two forms that database clients accept. `client.query(statement)` of `pg`, `connection.execute(text, values)`
 * of `mysql2` and `manager.query(text, values)` of TypeORM take the text. Tags of template literals take the strings:
 * `tx.$queryRaw(strings, ...values)` of Prisma, `sql(strings, ...values)` of Drizzle and Kysely.
 */
export interface SqlStatement {
  /** The statement with the placeholders of the database: `$1`, `$2`, … or `?`. */
  readonly text: string;
  /** The parts of the statement between its placeholders, in the form that a tag of a template literal gets. */
  readonly strings: TemplateStringsArray;
  /** The values of the placeholders, in order. Tokens are decimal text, which no driver rounds. */
  readonly values: unknown[];
  /** `true` for a statement that returns rows. Some clients run such a statement by another method than an update. */
  readonly reads?: true;
}

/**
 * A write that is guarded with a fencing token, with the data that `sqlOutcome` needs if the write was not
 * accepted.
 */
export interface FencedStatement extends SqlStatement {
  readonly refusal: {
    /** A query that returns the largest token of the row to write, in the column `token`. */
    readonly query: SqlStatement;
    readonly name?: string;
    /** The token of the hold as decimal text, so that the statement can be logged as JSON. */
    readonly token: string;
    /** Whether the row refuses a second write of the same hold. */
    readonly once: boolean;
    /** The name of the row for the message of a refusal. */
    readonly resource: string;
  };
}

/** The statements that store the token of a hold in the table of fencing tokens, for `sqlOutcome`. */
export interface FenceClaim {
  /**
   * The statements that raise the stored token of the lock to the token of the hold. The last one returns the
   * token that is stored then, in the column `token`, as decimal text.
   */
  readonly statements: readonly SqlStatement[];
  readonly name: string;
  /** The token of the hold as decimal text. */
  readonly token: string;
  /** The name of the table for the message of a refusal. */
  readonly resource: string;
}

/**
 * Marks the place of a value in the text of a statement that is being built. Identifiers contain no control
 * characters.
 */
const PLACEHOLDER = '\0';

/** Collects the values of a statement while the text of the statement is composed. */
export class Parameters {
  readonly #values: unknown[] = [];
  readonly #numbered: boolean;

  constructor(numbered: boolean) {
    this.#numbered = numbered;
  }

  /**
   * Adds a value of the statement, and returns the placeholder for its text. Placeholders have the order of
   * their values.
   */
  add(value: unknown): string {
    this.#values.push(value);
    return PLACEHOLDER;
  }

  /** Returns the statement with the collected values. */
  statement(written: string): SqlStatement {
    const strings = written.split(PLACEHOLDER);
    const text = strings
      .map((part, i) => (i === 0 ? part : `${this.#numbered ? `$${String(i)}` : '?'}${part}`))
      .join('');
    return { text, strings: asTemplate(strings), values: this.#values };
  }
}

/** Returns the parts of a text in the form that a tag function of a template literal gets. Tag functions recognize that form by the property `raw`. */
function asTemplate(parts: string[]): TemplateStringsArray {
  Object.defineProperty(parts, 'raw', { value: parts });
  return Object.freeze<unknown>(parts) as TemplateStringsArray;
}
