/** The rules that every history must keep, by name. */
export const RULES = {
  exclusive: 'two clients never believe in conflicting holds of one name',
  'ends first': 'a client stops believing in its hold before the server grants the next',
  'told in time':
    'a loss is reported at the end of the proven time, before the next grant, unless the machine is frozen',
  budget: 'the remaining time of a hold never exceeds what the server is proven to keep',
  'no needless loss': 'no hold is lost within the proven time',
  doubt: 'a session is suspect when a renewal is overdue or failed, or its backend says so, and renews then',
  tokens: 'tokens grow with every grant of a name',
  order: 'grants follow the order of the server, and only the first entry of the queue is granted',
  grant:
    'a claim is granted at most once, only while it is not cancelled, is held at once, and its session is alive',
  'enough time': 'a hold starts with the requested remaining time',
  handover: 'a hold after one that did not end by a release starts late enough',
  'no way back':
    'a released, lost or closed hold does not return, and each state is emitted once and is true',
  signal:
    'the signal aborts at once when the hold is lost, for a reason that exists, and never when it is released',
  outcome: 'a claim has one outcome, typed, with an existing cause, and emits nothing after it',
  'at once': 'abort, close and the end of the session end a wait at once',
  run: 'a run resolves only if the lock was held until its work was done, and refuses its own name inside',
  release: 'a release never fails, and is confirmed only when the entry was removed or its session has ended',
  learns: 'a holder is notified when its entry was removed',
  progress: 'after the last failure, every claim has an outcome',
  'nothing left': 'no entry, watcher, session or timer is left over',
  'nothing lost': 'no error is unhandled',
  contract: 'the core calls a backend as its contract allows',
} as const;

export type Rule = keyof typeof RULES;

/**
 * The rules whose violation lets two clients hold a lock at once, in the wrong order, or with tokens that do
 * not grow.
 */
export const UNSAFE: ReadonlySet<Rule> = new Set<Rule>([
  'exclusive',
  'ends first',
  'told in time',
  'budget',
  'tokens',
  'order',
  'handover',
]);

/** Logs the events of a history, and records the first broken rule. */
export class Judge {
  readonly #now: () => number;
  readonly trace: string[] = [];
  /** The virtual time at which the faults of the history ended; `Infinity` until then. */
  calmSince = Infinity;
  /** The first rule that the history has broken. */
  broken: Rule | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(line: string): void {
    this.trace.push(`${String(this.#now()).padStart(6)} ${line}`);
  }

  /** Logs a violation if the rule is not kept. */
  require(rule: Rule, kept: boolean, detail: () => string): void {
    if (kept) return;
    this.broken ??= rule;
    this.note(`BROKEN ${rule}: ${detail()}`);
  }
}
