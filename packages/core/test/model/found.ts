import type { ClaimPlan, ClientPlan, Action, History } from './plan.ts';

/** A history that revealed a real defect of the core, and is kept as a regression test. */
export interface Found {
  /** The correct behaviour, which becomes the title of the test. */
  readonly fact: string;
  /** The name of the seeded defect of the core that makes this history fail again. */
  readonly mutant: string;
  readonly history: History;
}

const CLIENT: ClientPlan = { ttlMs: 2_000, safetyMarginMs: undefined, rate: 1, vague: false, deaf: false };

/**
 * Creates a history of three clients without network faults. Each action is given with the milliseconds since
 * the previous action.
 */
function history(...steps: readonly (readonly [after: number, action: Action])[]): History {
  const actions = steps.map(([after, action]) => ({ after, action }));
  return { clients: [CLIENT, CLIENT, CLIENT], actions, fates: [] };
}

function claim(changes: Partial<ClaimPlan> = {}): Action {
  const plan = { client: 0, name: 'a', kind: 'claim', timeoutMs: undefined, holdMs: undefined, reads: false };
  return { do: 'claim', ...(plan as ClaimPlan), ...changes };
}

export const FOUND: readonly Found[] = [
  {
    fact: 'a closed client stays closed when it is used later',
    mutant: 'a closed client reports that it is opening',
    history: history([0, { do: 'close', client: 0 }], [0, claim()]),
  },
  {
    fact: 'a claim that is being released is neither suspect nor held again',
    mutant: 'a state says `held` after the release',
    history: history(
      [0, claim()],
      [480, { do: 'cut', client: 0, ms: 600, what: 'requests' }],
      [270, { do: 'release', which: 0, times: 1 }],
    ),
  },
  {
    fact: 'a claim that is joining ends when its client closes',
    mutant: 'a join outlives its session',
    history: history([0, claim()], [2_000, claim()], [0, { do: 'close', client: 0 }]),
  },
  {
    fact: 'the end of a session is reported once',
    mutant: 'a lost session is reported twice',
    history: history([0, claim()], [700, { do: 'freeze', client: 0, ms: 1_600 }]),
  },
  {
    fact: 'a refused name does not end a hold of another name',
    mutant: 'a refused enqueue is followed by a removal, whose refusal ends the session',
    history: history(
      [0, claim()],
      [500, { do: 'deny', client: 0, name: 'b', ms: 20 }],
      [0, claim({ name: 'b' })],
    ),
  },
  {
    fact: 'a claim that joins while the session ends continues in the next session',
    mutant: 'a claim that joins while the session ends gets the same session again',
    history: history(
      [0, claim()],
      [3, { do: 'cut', client: 0, ms: 2_500, what: 'requests' }],
      [2_600, { do: 'close', client: 1 }],
    ),
  },
  {
    fact: 'all holds of a session end at one instant',
    mutant: 'the signal is late in reporting the end of the session',
    history: history(
      [0, claim({ reads: true })],
      [0, claim({ name: 'b', reads: true })],
      [700, { do: 'freeze', client: 0, ms: 1_600 }],
    ),
  },
];
