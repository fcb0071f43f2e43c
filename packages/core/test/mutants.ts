import type { Alteration } from '@queuelock/harness/alteration';

/** A seeded defect of the core, and the test that it must break. */
export interface Mutant {
  readonly what: string;
  /** The title of the fact in packages/core/test/facts that fails with this mutant. */
  readonly killedBy: string;
  readonly alterations: readonly Alteration[];
}

function mutant(what: string, killedBy: string, ...alterations: readonly Alteration[]): Mutant {
  return { what, killedBy, alterations };
}

const SEVERAL_NAMES: readonly Mutant[] = [
  mutant(
    'the loss of one name leaves the others held',
    'the loss of one name of a multi-lock releases its other names',
    ['multi/multi.ts', "      takeWhile(({ status }) => status !== 'ended', true),\n", ''],
  ),
  mutant(
    'the release of one name leaves the others held',
    'the release of one name of a multi-lock releases all its names without a loss',
    [
      'multi/multi.ts',
      "      if (states.some(({ status }) => status === 'ended')) void ownership?.release();\n",
      '',
    ],
  ),
  mutant(
    'a lost name counts as held until the reason of the loss is known',
    'a multi-lock is never held when the entry of its first name is removed before its last name is admitted',
    ['multi/multi.ts', 'return ownership?.held ? ownership : undefined;', 'return ownership;'],
  ),
  mutant(
    'a cancelled claim continues to wait for the other names to join',
    'a multi-lock that is cancelled between two attempts to join leaves no entries, and its client can close',
    [
      'multi/together.ts',
      '        if (this.#joining.get(session) === joining) reject(stop.reason as Error);\n',
      '',
    ],
  ),
  mutant(
    'several names that are overtaken in one queue end',
    'a multi-lock joins all its queues again when the lock of one queue is stolen while it waits',
    ['multi/multi.ts', '      throwIfRemoved(states, arePlaced);\n', ''],
  ),
  mutant(
    'one name of several joins again alone',
    'a multi-lock joins all its queues again when the lock of one queue is stolen while it waits',
    ['claim/steps.ts', 'cause instanceof OvertakenError && !isTogether', 'cause instanceof OvertakenError'],
  ),
];

const ENTERING_AGAIN: readonly Mutant[] = [
  mutant(
    'siblings enter together',
    'several calls inside a reentrant hold enter it again one at a time, in their order, also when one of them is cancelled',
    ['reentrancy/reentrancy.ts', 'await turnWithin(before, ', 'await turnWithin(Promise.resolve(), '],
  ),
  mutant(
    'a cancelled wait lets the next one pass',
    'several calls inside a reentrant hold enter it again one at a time, in their order, also when one of them is cancelled',
    ['reentrancy/reentrancy.ts', 'this.#line = before.then(() => left);', 'this.#line = left;'],
  ),
  mutant(
    'the outermost level releases the hold',
    'a reentrant hold is released on the server exactly once, when its last level is released',
    ['reentrancy/reentrancy.ts', 'if (this.#shared.levels === 0) await', 'if (this.depth === 1) await'],
  ),
  mutant(
    'a wait for a sibling is not notified of the loss',
    'all levels of a reentrant hold are lost at one instant when the session ends, and calls that wait inside it reject at once',
    [
      'reentrancy/reentrancy.ts',
      'merge(waitLimitOf(limitOfWait, context), lost$)',
      'waitLimitOf(limitOfWait, context)',
    ],
  ),
];

const EVICTIONS: readonly Mutant[] = [
  mutant(
    'the record is written after the removal',
    'the record of an eviction is stored before the evicted client is notified of its loss',
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
    'the record of an eviction is removed when the entry had already left',
    [
      'handover/evictions.ts',
      '    if (spared.length > 0) await kept.change((text) => removeRecords(text, spared));\n',
      '',
    ],
  ),
  mutant(
    'an eviction without a reply counts as too late',
    'an eviction whose reply is lost counts as done, and its record stays',
    ['handover/evictions.ts', ' === true || mayHaveRemoved;', ' === true;'],
  ),
  mutant(
    'a record is written once for each attempt',
    'an eviction writes one record when replies to writeRegister are lost',
    [
      'handover/eviction-records.ts',
      'more.filter((one) => !records.some((known) => isSame(known, one)))',
      'more',
    ],
  ),
  mutant(
    'an overtaken waiter does not join again',
    'a waiter that is overtaken twice joins a third time, and its abort signal still ends the wait',
    [
      'claim/ending.ts',
      "      if (eviction?.kind === 'overtaken' && !ownership) throw new OvertakenError(eviction);\n",
      '',
    ],
  ),
  mutant(
    'the reason of a removal is read once',
    'an overtaken waiter joins again although the reply with the eviction record is lost',
    [
      'handover/evictions.ts',
      'await repeatUntilDefinite(async () => registers?.read(name, KIND), stop)',
      'await registers?.read(name, KIND)',
    ],
  ),
  mutant(
    'the reason of a removal is found by the key of the entry alone',
    'the eviction record of an earlier entry with the same key does not apply to a later entry',
    [
      'handover/evictions.ts',
      '(entry.key === own.key && entry.order === own.order)',
      'entry.key === own.key',
    ],
  ),
  mutant(
    'a steal starts at the front',
    'a steal removes entries from the last to the first, so that no waiter is admitted during the steal',
    ['handover/evictions.ts', 'against.reverse()', 'against'],
  ),
  mutant(
    'a steal of permits removes all of them',
    'a steal of one permit removes the holder that joined last, and overtaken waiters join again',
    ['handover/evictions.ts', 'return taken + permits > own.limit;', 'return true;'],
  ),
  mutant(
    'a steal continues after it was cancelled',
    'a steal that is cancelled removes no further entries of the queue',
    ['handover/in-line.ts', 'goesOn: () => wanted', 'goesOn: () => true'],
  ),
];

const REQUESTS: readonly Mutant[] = [
  mutant(
    'answers are not acknowledged',
    'a holder that yields releases as soon as the requester has acknowledged the response',
    ['handover/requests.ts', 'heard: [...(now.heard ?? []), by]', 'heard: now.heard ?? []'],
  ),
  mutant(
    'a holder that yields does not wait for the acknowledgement',
    'a holder that yields releases after 1 s when the requester does not acknowledge the response',
    ['handover/requests.ts', 'const RECEIVED_WITHIN_MS = 1_000;', 'const RECEIVED_WITHIN_MS = 0;'],
  ),
  mutant(
    'an answer counts as read only when the one before is acknowledged',
    'each holder of a semaphore responds to a request once, and the requester receives each response once',
    ['handover/requests.ts', '    tap(({ by }) => read.add(by)),\n', ''],
    [
      'handover/requests.ts',
      'concatMap(async ({ by, answer }) => {\n',
      'concatMap(async ({ by, answer }) => {\n      read.add(by);\n',
    ],
  ),
  mutant(
    'a holder that yields also evicts holders',
    'a reader that yields to a requester evicts only waiters, and other readers keep their holds',
    [
      'handover/requests.ts',
      '.filter((entry) => isBehind(entry) && !admitted.has(entry))',
      '.filter((entry) => isBehind(entry))',
    ],
  ),
  mutant(
    'a holder that yields evicts itself for the requester',
    'a holder that yields never evicts its own entry, even while the store still shows a released entry ahead of it',
    [
      'handover/requests.ts',
      '.filter((entry) => isBehind(entry) && !admitted.has(entry))',
      '.filter((entry) => !admitted.has(entry))',
    ],
  ),
  mutant(
    'an answer waits for its acknowledgement after the end of the hold',
    'the call yieldToQueue of a holder settles within 1 s when its client closes while the request remove is pending',
    ['handover/requests.ts', 'merge(over$, received$, late$)', 'merge(received$, late$)'],
  ),
];

const LIMITS: readonly Mutant[] = [
  mutant(
    'a change of the limit with a late reply revokes the grant',
    'a change of the limit whose reply arrives after the grant does not revoke the hold',
    ['entry/turns-under-limit.ts', '    takeUntil(granted.come$),\n', ''],
  ),
  mutant(
    'changes of the limit overtake each other',
    'changes of a limit reach the server in order, also over a slow connection',
    ['entry/turns-under-limit.ts', 'from(underWay).pipe(', 'of(true).pipe('],
  ),
  mutant(
    'a change of the limit creates a new entry for a removed one',
    'a claim whose entry is removed during a change of the limit rejects, and does not join again',
    ['entry/turns-under-limit.ts', 'if (now.order === placement.order) return now;', 'return now;'],
  ),
  mutant(
    'the limit of the queue length counts holders',
    'a claim that is refused with QUEUE_FULL has left the queue, and the entries behind it stay',
    ['turn/positions.ts', 'admitted.has(entry) ? 0 : (waiting += 1)', '(waiting += 1)'],
  ),
  mutant(
    'the own entry is found by its key alone',
    'a claim ignores a snapshot that contains only an earlier entry with the same key',
    ['handover/in-line.ts', 'key === place.key && order === place.order', 'key === place.key'],
  ),
];

const TEXTS: readonly Mutant[] = [
  mutant(
    'each entry contains another text for its process',
    'the entries of all clients of a process contain the same text that identifies the process',
    ['checks/arguments.ts', '    instance: INSTANCE,\n', "    instance: randomBytes(6).toString('hex'),\n"],
  ),
  mutant(
    'changes of a label do not wait for each other',
    'several changes of a label are applied in order, even if replies are lost',
    [
      'entry/own-label.ts',
      'const written = this.#last.then(async',
      'const written = Promise.resolve().then(async',
    ],
  ),
  mutant(
    'a refused change of a label is sent with the next change',
    'a downgrade on a server that refuses leaves the hold unchanged, and reports no other state',
    [
      'entry/own-label.ts',
      '      const value = encodeLabel(label);\n',
      '      const value = encodeLabel(label);\n      this.#label = label;\n',
    ],
  ),
  mutant(
    'a register is overwritten',
    'no change of a register is lost when twelve clients change it at the same time',
    [
      'views/register.ts',
      'if (await this.#registers.write(name, kind, { text, was: present?.version })) return text;',
      'await this.#registers.write(name, kind, { text, was: present?.version });\n        return text;',
    ],
  ),
  mutant(
    'a register is written without a change',
    'a change of a register to its current text writes nothing, also when both texts are empty',
    ['views/register.ts', '        if (text === present?.text) return text;\n', ''],
  ),
];

const SESSIONS: readonly Mutant[] = [
  mutant(
    'an expired export does not lead to a new session',
    'resuming a session that has ended opens a new session, and the claim joins at the end of the queue',
    ['session/resume.ts', "if (!isQueueLockError(error, 'SESSION_LOST')) throw error;", 'throw error;'],
  ),
  mutant(
    'an abandoned client ends its session',
    'a resumed session holds the same entry with the same token, and the abandoned client has lost the hold',
    ['client.ts', '    this.#keepsSession = true;\n', ''],
  ),
];

const RECORDED_HOLDS: readonly Mutant[] = [
  mutant(
    'a loss is recorded as a release',
    'a record of a lost hold has the reason of the loss, and the client that removed the entry',
    [
      'past/hold-recorder.ts',
      "  if (!loss) return { reason: 'released', heldMs };",
      "  if (!loss || heldMs >= 0) return { reason: 'released', heldMs };",
    ],
  ),
  mutant(
    'the cause of a loss that is found later is not recorded',
    'a record of a lost hold has the reason of the loss, and the client that removed the entry',
    ['hold/ownership.ts', '    void story.then(() => this.#recording?.ended(this.#lossError));\n', ''],
  ),
  mutant(
    'a hold that ended without a record stays open',
    'the hold of a process that died has no recorded end, and the next holder records the time by which that hold had ended',
    ['past/hold-records.ts', '    if (alone)', '    if (!alone)'],
  ),
  mutant(
    'a record is written at once',
    'two short holds of one client need one read and one write of the records',
    ['past/hold-recorder.ts', '    await this.#pause(WRITE_DELAY_MS);\n', ''],
  ),
  mutant(
    'a record is given up when another client wrote meanwhile',
    'no record is lost when eight readers record their holds at the same time',
    [
      'past/hold-recorder.ts',
      'if (await repeatUntilDefinite(() => this.#change(name, updates), signal)) return;',
      'return void (await repeatUntilDefinite(() => this.#change(name, updates), signal));',
    ],
  ),
  mutant(
    'a client that closes waits for its records for ever',
    'a client closes within 1 s while its requests for records get no reply',
    ['past/hold-recorder.ts', 'const CLOSING_MS = 1_000;', 'const CLOSING_MS = 1_000_000;'],
  ),
  mutant(
    'each refused record is reported',
    'a record that the store refuses is reported once a minute, and the hold continues',
    ['past/hold-recorder.ts', 'const REPORT_EVERY_MS = 60_000;', 'const REPORT_EVERY_MS = 0;'],
  ),
];

export const MUTANTS: readonly Mutant[] = [
  ...RECORDED_HOLDS,
  ...SEVERAL_NAMES,
  ...ENTERING_AGAIN,
  ...EVICTIONS,
  ...REQUESTS,
  ...LIMITS,
  ...TEXTS,
  ...SESSIONS,
];
