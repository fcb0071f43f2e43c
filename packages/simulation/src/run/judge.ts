import { isQueueLockError } from '@queuelock/core';

/** What holds in every run. */
export const RULES = {
  exclusive: 'nobody believes in a hold while another one that conflicts with it begins',
  order: 'a hold begins when nothing that conflicts with it is ahead in the store, by create revision',
  tokens: 'tokens grow with every grant that conflicts with an earlier one',
  progress: 'once the trouble is over, everybody gets an answer',
  outcome: 'a wait ends with a hold, or with an error that is typed and has a cause',
  'nothing left': 'no key, lease, stream, call or timer is left over',
  'nothing lost': 'no error is thrown to nobody',
  'no storm': 'no client sends more than so many requests in a second',
} as const;

export type Rule = keyof typeof RULES;

/** Those whose breach lets two work at a time, in the wrong order or with the wrong tokens. */
export const UNSAFE: ReadonlySet<Rule> = new Set<Rule>(['exclusive', 'order', 'tokens']);

/** Takes down what happens, and what must not happen. */
export class Judge {
  readonly story: string[] = [];
  /** The first rule that was broken. */
  broken: Rule | undefined;
  /** When something happened last. */
  lastAt = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(line: string): void {
    this.lastAt = this.#now();
    const time = (this.#now() / 1_000).toFixed(3).padStart(8);
    this.story.push(`${time} ${line}`);
  }

  require(rule: Rule, kept: boolean, detail: () => string): void {
    if (kept) return;
    this.note(`BROKEN ${rule}: ${detail()}`);
    this.broken ??= rule;
  }

  /** What a wait ended with, instead of a hold. */
  ended(who: string, error: unknown, abort: unknown): void {
    this.note(`${who} gets nothing: ${error instanceof Error ? error.message : String(error)}`);
    this.require(
      'outcome',
      isQueueLockError(error) || error === abort,
      () => `${who} ends with ${String(error)}`,
    );
  }
}
