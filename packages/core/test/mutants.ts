import type { Alteration } from '@queuelock/harness/alteration';

/** A mutant that somebody could make in the core, and the fact that is none with it. */
export interface Mutant {
  readonly what: string;
  /** The title of the fact. */
  readonly killedBy: string;
  readonly alterations: readonly Alteration[];
}

function mutant(what: string, killedBy: string, ...alterations: readonly Alteration[]): Mutant {
  return { what, killedBy, alterations };
}

const SEVERAL_NAMES: readonly Mutant[] = [
  mutant(
    'the loss of one name leaves the others held',
    'the loss of one name gives the others to those who wait',
    ['multi/multi.ts', "      takeWhile(({ status }) => status !== 'ended', true),\n", ''],
  ),
  mutant(
    'the release of one name leaves the others held',
    'whoever releases one name of several releases all, and that is no loss',
    [
      'multi/multi.ts',
      "      if (states.some(({ status }) => status === 'ended')) void ownership?.release();\n",
      '',
    ],
  ),
  mutant(
    'a name that was lost counts as held until its story is known',
    'a multi-lock whose first name was lost before the last is let in is never held',
    ['multi/multi.ts', 'return ownership?.held ? ownership : undefined;', 'return ownership;'],
  ),
  mutant(
    'whoever gives up goes on waiting for the others to join',
    'a multi-lock that is given up between two attempts to join leaves nothing, and the client closes',
    [
      'multi/together.ts',
      '        if (this.#joining.get(session) === joining) reject(stop.reason as Error);\n',
      '',
    ],
  ),
  mutant(
    'several names that are overtaken in one queue end',
    'a multi-lock that is overtaken in one queue joins again in all of them, together',
    ['multi/multi.ts', '      throwIfRemoved(states, arePlaced);\n', ''],
  ),
  mutant(
    'one name of several joins again on its own',
    'a multi-lock that is overtaken in one queue joins again in all of them, together',
    ['claim/steps.ts', 'cause instanceof OvertakenError && !isTogether', 'cause instanceof OvertakenError'],
  ),
];

const ENTERING_AGAIN: readonly Mutant[] = [
  mutant(
    'siblings enter together',
    'siblings enter one after the other, in the order in which they asked, and one gives up without a gap',
    ['reentrancy/reentrancy.ts', 'await turnWithin(before, ', 'await turnWithin(Promise.resolve(), '],
  ),
  mutant(
    'whoever gives up lets the next one pass',
    'siblings enter one after the other, in the order in which they asked, and one gives up without a gap',
    ['reentrancy/reentrancy.ts', 'this.#line = before.then(() => left);', 'this.#line = left;'],
  ),
  mutant(
    'the outermost level gives the hold back',
    'the server hears of one release, when the last level has left, and the level outside is told by then',
    ['reentrancy/reentrancy.ts', 'if (this.#shared.levels === 0) await', 'if (this.depth === 1) await'],
  ),
  mutant(
    'whoever waits for a sibling does not hear of the loss',
    'when the session dies, all levels are lost at one instant, and waits for siblings end at once',
    [
      'reentrancy/reentrancy.ts',
      'merge(patienceOf(patience, context), lost$)',
      'patienceOf(patience, context)',
    ],
  ),
];

const EVICTIONS: readonly Mutant[] = [
  mutant(
    'the record is written after the removal',
    'the record is there when the victim learns of its loss',
    [
      'handover/evictions.ts',
      `    await kept.change((text) => addRecords(text, records));
    const removed: boolean[] = [];
    for (const { entry } of records) {
      if (!goesOn()) break;
      removed.push(await this.#removeOne(name, entry));
    }
`,
      `    const removed: boolean[] = [];
    for (const { entry } of records) removed.push(await this.#removeOne(name, entry));
    await kept.change((text) => addRecords(text, records));
`,
    ],
  ),
  mutant(
    'the record of an eviction that came too late stays',
    'the record of an eviction that came too late is taken back',
    [
      'handover/evictions.ts',
      '    if (spared.length > 0) await kept.change((text) => removeRecords(text, spared));\n',
      '',
    ],
  ),
  mutant(
    'an eviction without an answer counts as too late',
    'an eviction whose answer is lost happened all the same, and its record stays',
    ['handover/evictions.ts', ' === true || mayHaveRemoved;', ' === true;'],
  ),
  mutant(
    'a record is written once for each attempt',
    'an eviction writes one record when answers to writeRegister are lost',
    [
      'handover/eviction-records.ts',
      'more.filter((one) => !records.some((known) => isSame(known, one)))',
      'more',
    ],
  ),
  mutant(
    'whoever is overtaken does not join again',
    'who is overtaken twice joins a third time, and its signal still ends the wait',
    [
      'claim/ending.ts',
      "      if (eviction?.kind === 'overtaken' && !ownership) throw new OvertakenError(eviction);\n",
      '',
    ],
  ),
  mutant(
    'why an entry is gone is asked once',
    'who is overtaken joins again although the answer that says so is lost',
    [
      'handover/evictions.ts',
      'await repeatUntilDefinite(async () => registers?.read(name, KIND), stop)',
      'await registers?.read(name, KIND)',
    ],
  ),
  mutant(
    'an entry is known by its key alone to who asks why it is gone',
    'the record of an earlier entry that had the same key tells nothing of a later one',
    [
      'handover/evictions.ts',
      '(entry.key === own.key && entry.order === own.order)',
      'entry.key === own.key',
    ],
  ),
  mutant(
    'a thief begins at the front',
    'a thief takes those out of the way from the back, so that none of them is let in on the way',
    ['handover/evictions.ts', 'against.reverse()', 'against'],
  ),
  mutant(
    'a thief of permits takes them all',
    'a thief of one permit takes one, of who joined last, and those who wait ahead join again',
    ['handover/evictions.ts', 'return taken + permits > own.limit;', 'return true;'],
  ),
  mutant(
    'a theft goes on when the thief has given up',
    'a thief that gives up takes nobody else out of the way',
    ['handover/in-line.ts', 'goesOn: () => wanted', 'goesOn: () => true'],
  ),
];

const REQUESTS: readonly Mutant[] = [
  mutant(
    'answers are not acknowledged',
    'an answer is acknowledged, and a holder that yields leaves as soon as it is',
    ['handover/requests.ts', 'heard: [...(now.heard ?? []), by]', 'heard: now.heard ?? []'],
  ),
  mutant(
    'whoever yields does not wait to be heard',
    'a holder that yields to a requester who reads nothing leaves after a second',
    ['handover/requests.ts', 'const HEARD_WITHIN_MS = 1_000;', 'const HEARD_WITHIN_MS = 0;'],
  ),
  mutant(
    'an answer counts as read only when the one before is acknowledged',
    'holders of permits answer each for itself, once, and each answer is told once',
    ['handover/requests.ts', '    tap(({ by }) => read.add(by)),\n', ''],
    [
      'handover/requests.ts',
      'concatMap(async ({ by, answer }) => {\n',
      'concatMap(async ({ by, answer }) => {\n      read.add(by);\n',
    ],
  ),
  mutant(
    'whoever yields takes those who hold out of the way as well',
    'a reader that makes way takes only those who wait out of the way, and other readers go on',
    [
      'handover/requests.ts',
      '.filter((entry) => isBehind(entry) && !admitted.has(entry))',
      '.filter((entry) => isBehind(entry))',
    ],
  ),
  mutant(
    'a holder that yields takes itself out of the way of the requester',
    'a holder that yields does not evict itself where the store still shows a released entry ahead of it',
    [
      'handover/requests.ts',
      '.filter((entry) => isBehind(entry) && !admitted.has(entry))',
      '.filter((entry) => !admitted.has(entry))',
    ],
  ),
  mutant(
    'an answer waits for a reader after the end of the hold',
    'a client that closes in the middle of yieldToQueue, at remove, ends it with a typed error or at once',
    ['handover/requests.ts', 'merge(over$, heard$, late$)', 'merge(heard$, late$)'],
  ),
];

const LIMITS: readonly Mutant[] = [
  mutant(
    'a change of the limit that is answered late takes the grant back',
    'a change of the limit that is answered after the grant takes nothing back, and the loss is still told',
    ['entry/limit.ts', '    takeUntil(granted.come$),\n', ''],
  ),
  mutant(
    'changes of the limit overtake each other',
    'changes of a limit reach the server in their order, also over a slow connection',
    ['entry/limit.ts', 'from(underWay).pipe(', 'of(true).pipe('],
  ),
  mutant(
    'a change of the limit makes a new entry of a removed one',
    'who is removed while a change of the limit is on its way loses its place, and gets no other unnoticed',
    ['entry/limit.ts', 'if (now.order === placement.order) return now;', 'return now;'],
  ),
  mutant(
    'who is turned away for a long line counts those who hold',
    'who is turned away for a long line has left it, and those behind are not',
    ['turn/positions.ts', 'admitted.has(entry) ? 0 : (waiting += 1)', '(waiting += 1)'],
  ),
  mutant(
    'the own entry is known by its key alone',
    'who sees an earlier entry with its key in an old picture of the queue waits for its own',
    ['handover/in-line.ts', 'key === place.key && order === place.order', 'key === place.key'],
  ),
];

const TEXTS: readonly Mutant[] = [
  mutant(
    'changes of what an entry tells do not wait for each other',
    'changes of what an entry tells build on each other and arrive in their order, with answers lost on the way',
    [
      'entry/own-label.ts',
      'const written = this.#last.then(async',
      'const written = Promise.resolve().then(async',
    ],
  ),
  mutant(
    'what was refused is told with the next change',
    'a downgrade on a server that refuses leaves the hold as it is, and tells nobody otherwise',
    [
      'entry/own-label.ts',
      '      const value = encodeLabel(label);\n',
      '      const value = encodeLabel(label);\n      this.#label = label;\n',
    ],
  ),
  mutant('a register is overwritten', "of writers that get in each other's way none loses a change", [
    'views/register.ts',
    'if (await this.#registers.write(name, kind, { text, was: present?.version })) return text;',
    'await this.#registers.write(name, kind, { text, was: present?.version });\n        return text;',
  ]),
  mutant(
    'a register is written for nothing',
    'to answer the same text writes nothing, and to empty an empty one neither',
    ['views/register.ts', '        if (text === present?.text) return text;\n', ''],
  ),
];

const SESSIONS: readonly Mutant[] = [
  mutant(
    'a ticket that is not good any more is no reason for a new session',
    'the ticket of a session that was closed, or has expired, gives a new session, and a place behind the others',
    ['session/resume.ts', "if (!isQueueLockError(error, 'SESSION_LOST')) throw error;", 'throw error;'],
  ),
  mutant(
    'whoever is abandoned ends its session',
    'whoever resumes holds the same entry with the same token, and the hold that was abandoned is lost',
    ['client.ts', '    this.#keepsSession = true;\n', ''],
  ),
];

export const MUTANTS: readonly Mutant[] = [
  ...SEVERAL_NAMES,
  ...ENTERING_AGAIN,
  ...EVICTIONS,
  ...REQUESTS,
  ...LIMITS,
  ...TEXTS,
  ...SESSIONS,
];
