import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { judge, type Terms, type Verdict } from './judge.ts';
import { endParticipants, type Participant } from './participant.ts';
import type { History, InteropEvent } from './protocol.ts';

const underWay = new Set<Trial>();

interface Trying {
  readonly participants: readonly Participant[];
  readonly terms?: Terms;
  /** Whether the trial is a control, in which the checker has to find violations. */
  readonly control?: boolean;
}

/**
 * The participants of one queue, and the check of their history. Create a trial before the participants
 * begin. If a test fails before it checks the trial, `abandonTrials` checks it at the end of the test.
 */
export class Trial {
  readonly #participants: readonly Participant[];
  readonly #terms: Terms;

  constructor({ participants, terms = {}, control = false }: Trying) {
    this.#participants = participants;
    this.#terms = terms;
    if (!control) underWay.add(this);
  }

  get history(): History {
    return this.#participants.flatMap(({ events }) => events);
  }

  verdict(): Verdict {
    underWay.delete(this);
    return judge(this.history, this.#terms);
  }

  /**
   * Violations of exclusion, order and tokens in a trial that was cut short. The checker's findings of other
   * kinds are left out, because they prove nothing about such a trial.
   */
  get unsafe(): readonly string[] {
    const ends = this.#participants.flatMap(endOf);
    return judge([...this.history, ...ends], this.#terms).unsafe;
  }
}

/**
 * Ends trials that a test left running, and fails if one of them violated exclusion, order or tokens. Call it
 * in `afterEach`.
 */
export async function abandonTrials(): Promise<void> {
  await endParticipants();
  const unsafe = [...underWay].flatMap((trial) => trial.unsafe);
  underWay.clear();
  expectSafe(unsafe);
}

/**
 * Throws if the checker has findings. The error is a `SafetyViolation` if one of the findings concerns
 * exclusion, order or tokens.
 */
export function expectRight({ findings, unsafe }: Verdict): void {
  expectSafe(unsafe);
  expect(findings, findings.join('\n')).to.be.empty;
}

function expectSafe(unsafe: readonly string[]): void {
  safely(() => expect(unsafe, unsafe.join('\n')).to.be.empty);
}

/**
 * Returns an event `killed` at the time of the participant's last report, because the checker must not assume
 * that it waits or holds after that. A killed participant already has such an event, which is enough unless
 * another program passes its reports on. In that case the report of its release may be missing.
 */
function endOf({ id, kind, events }: Participant): InteropEvent[] {
  const wasKilled = events.some(({ ev }) => ev === 'killed');
  const last = events.findLast(({ ev }) => ev !== 'killed');
  if (last === undefined || (wasKilled && !kind.deaf)) return [];
  return [{ id, t: last.t, ev: 'killed', n: 0 }];
}
