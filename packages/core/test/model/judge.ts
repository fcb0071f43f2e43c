/** The rules of every history. */
export const RULES = {
  exclusive: 'the beliefs of two holders of one name never overlap',
  'ends first': 'a belief has ended before the server grants the next',
  'told in time':
    'a loss is announced when the proven time is over, before the server grants the next, unless the machine stands still',
  budget: 'what is left of a hold never exceeds what the server is proven to keep',
  'no needless loss': 'nothing is lost in doubt while it is proven',
  doubt: 'a session is in doubt when a renewal is overdue or failed, or its backend says so, and renews then',
  tokens: 'tokens grow with every grant of a name',
  order: 'grants follow the order of the server, and only the first in the queue is granted',
  grant: 'a claim is granted at most once, while it is wanted, held at once, on a session beyond doubt',
  'enough time': 'a hold begins with as much time as was asked for',
  handover: 'a hold after one that did not end by a release begins late enough',
  'no way back': 'what was released, lost or closed does not come back, and a state tells what is so, once',
  signal:
    'the signal aborts at once when the hold is lost, for a reason that exists, and never when it is released',
  outcome: 'a claim has one outcome, typed, for a cause that exists, and says nothing after it',
  'at once': 'abort, close and the end of the session end a wait at once',
  run: 'a run resolves only if the lock was held until its work was done, and refuses its own name inside',
  release: 'a release never fails, and is confirmed only when the entry is gone or its session is over',
  learns: 'a holder whose entry is gone learns of it',
  progress: 'once the trouble is over, everybody has an outcome',
  'nothing left': 'no entry, watcher, session or timer is left over',
  'nothing lost': 'no error is thrown to nobody',
  contract: 'the core calls a backend as it may',
} as const;

export type Rule = keyof typeof RULES;

/** The rules whose violation lets two works run at a time, in the wrong order or with the wrong tokens. */
export const UNSAFE: ReadonlySet<Rule> = new Set<Rule>([
  'exclusive',
  'ends first',
  'told in time',
  'budget',
  'tokens',
  'order',
  'handover',
]);

/** Records what happens, and violations. */
export class Judge {
  readonly #now: () => number;
  readonly trace: string[] = [];
  /** The time since which there were no failures. */
  calmSince = Infinity;
  /** The first rule that was broken. */
  broken: Rule | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(line: string): void {
    this.trace.push(`${String(this.#now()).padStart(6)} ${line}`);
  }

  /** Records a violation unless the rule is kept. */
  require(rule: Rule, kept: boolean, detail: () => string): void {
    if (kept) return;
    this.broken ??= rule;
    this.note(`BROKEN ${rule}: ${detail()}`);
  }
}
