import { mutant, type Mutant } from '../mutant.ts';

export const OF_RECIPES: readonly Mutant[] = [
  mutant('a round begins with one member too few', 'agreed', [
    'recipes/src/double-barrier-round.ts',
    'waiting.length < members ?',
    'waiting.length < members - 1 ?',
  ]),
  mutant(
    'a round begins while members of the previous round are present',
    ['agreed', 'progress'],
    [
      'recipes/src/double-barrier-round.ts',
      '  if (line.some(({ id }) => last.includes(id))) return undefined;\n',
      '',
    ],
  ),
  mutant('a member leaves a round without waiting for the others', 'agreed', [
    'recipes/src/double-barrier-round.ts',
    "phase === 'leaving' || !round.includes(id)",
    "phase === 'leaving' || round.includes(id)",
  ]),
  mutant('a slot is recorded only when it is done', 'agreed', [
    'recipes/src/slot-call.ts',
    "const isNotedFirst = guarantee === 'at-most-once';",
    "const isNotedFirst = guarantee !== 'at-most-once';",
  ]),
  mutant(
    'a recorded slot is done again',
    'agreed',
    ['recipes/src/slot-register.ts', "    if (own) return { outcome: 'already-done', ...own };\n", ''],
    ['recipes/src/slot-register.ts', 'this.#order(slot, this.slot) >= 0', 'this.#order(slot, this.slot) > 0'],
  ),
  mutant('a latch opens before the last count', 'agreed', [
    'recipes/src/latch.ts',
    'return state?.count === 0 ||',
    'return state?.count === 1 ||',
  ]),
  mutant('a latch counter is written before the previous write is finished', 'agreed', [
    'recipes/src/latch-state.ts',
    'state.count > 0 || state.ops',
    'state.ops',
  ]),
  mutant(
    'a cohort admits several members at once',
    ['exclusive', 'progress'],
    ['recipes/src/cohort.ts', '    if (this.#holder) return;\n', ''],
  ),
  mutant('a cohort without waiters stays in the queue', 'progress', [
    'recipes/src/cohort.ts',
    'if (this.#line.isEmpty) void this.#dropEntry();\n    else if',
    'if (this.#line.isEmpty) return;\n    else if',
  ]),
  mutant(
    'a leader resigns before its work ends',
    ['agreed', 'exclusive'],
    ['recipes/src/election-lead.ts', 'await work(term, stop);', 'void work(term, stop);'],
  ),
];
