import { isQueueLockError } from '@queuelock/core';
import type { Deed, Fact } from './facts.ts';

/** What holds in every run. */
export const RULES = {
  exclusive: 'nobody believes in a hold while another one that conflicts with it begins',
  order: 'a hold begins when nothing that conflicts with it is ahead in the store, by create revision',
  tokens: 'tokens grow with every grant that conflicts with an earlier one',
  told: 'whose entry was removed by somebody learns it within the time to live',
  time: 'a hold begins with the time that was asked for',
  view: 'who looks at a queue sees it as it was, and when nothing happens any more as it is',
  progress: 'once the trouble is over, everybody gets an answer',
  outcome: 'a wait ends with a hold, or with an error that is typed and has a cause',
  'nothing left': 'no key, lease, stream, call or timer is left over',
  'nothing lost': 'no error is thrown to nobody',
  'no storm': 'no client sends more than so many requests in a second',
} as const;

export type Rule = keyof typeof RULES;

/** Those whose breach lets two work at a time, in the wrong order or with the wrong tokens. */
export const UNSAFE: ReadonlySet<Rule> = new Set<Rule>(['exclusive', 'order', 'tokens']);

/** What a wait may end with. */
export interface Lawful {
  /** The reason of its own abort. */
  readonly abort?: unknown;
  /** Whether somebody removes entries. */
  readonly isUnruly: boolean;
}

/** Takes down what happens, and what must not happen. */
export class Judge {
  readonly story: string[] = [];
  /** What the story tells, without its words. */
  readonly facts: Fact[] = [];
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

  tell(deed: Deed): void {
    this.facts.push({ atMs: this.#now(), ...deed });
  }

  require(rule: Rule, kept: boolean, detail: () => string): void {
    if (kept) return;
    const told = detail();
    this.note(`BROKEN ${rule}: ${told}`);
    this.tell({ type: 'broken', rule, detail: told });
    this.broken ??= rule;
  }

  /** What a wait ended with, instead of a hold. */
  ended(who: string, error: unknown, { abort, isUnruly }: Lawful): void {
    const why = error instanceof Error ? error.message : String(error);
    this.note(`${who} gets nothing: ${why}`);
    this.tell({ type: 'gets nothing', who, why });
    this.require(
      'outcome',
      tellsOfRemoval(error) ? isUnruly : isQueueLockError(error) || error === abort,
      () => `${who} ends with ${String(error)}`,
    );
  }
}

/** Other than one that has another cause: whoever may not take the single key gives its place up. */
function tellsOfRemoval(error: unknown): boolean {
  if (isQueueLockError(error, 'ENTRY_LOST')) return error.cause === undefined;
  return isQueueLockError(error, 'OWNERSHIP_LOST') && error.reason === 'entry-removed';
}
