import type { RecipeFacts } from './frame.ts';
import { admissionFacts } from './facts/admission.ts';
import { barrierFacts } from './facts/barrier.ts';
import { callerContextFacts } from './facts/caller-context.ts';
import { cohortFacts } from './facts/cohort.ts';
import { deadlockFacts } from './facts/deadlock.ts';
import { doubleBarrierFacts } from './facts/double-barrier.ts';
import { electionFacts } from './facts/election.ts';
import { fairShareFacts } from './facts/fair-share.ts';
import { handoverFacts } from './facts/handover.ts';
import { latchFacts } from './facts/latch.ts';
import { multiFacts } from './facts/multi.ts';
import { oncePerFacts } from './facts/once-per.ts';
import { operatorFacts } from './facts/operators.ts';
import { placeFacts } from './facts/position.ts';
import { readWriteFacts } from './facts/read-write.ts';
import { reentrancyFacts } from './facts/reentrancy.ts';
import { semaphoreFacts } from './facts/semaphore.ts';

/** The facts of all recipes. Each fact is true on every store. */
export const recipeFacts: readonly RecipeFacts[] = [
  { recipe: 'a read/write lock', facts: readWriteFacts },
  { recipe: 'a multi-lock', facts: multiFacts },
  { recipe: 'reentrancy', facts: reentrancyFacts },
  { recipe: 'asking the holder', facts: handoverFacts },
  { recipe: 'admission', facts: admissionFacts },
  { recipe: 'operators and labels', facts: operatorFacts },
  { recipe: 'leader election', facts: electionFacts },
  { recipe: 'deadlock detection', facts: deadlockFacts },
  { recipe: 'a place in the queue', facts: placeFacts },
  { recipe: 'a semaphore', facts: semaphoreFacts },
  { recipe: 'a fair share', facts: fairShareFacts },
  { recipe: 'a barrier', facts: barrierFacts },
  { recipe: 'a double barrier', facts: doubleBarrierFacts },
  { recipe: 'a count-down latch', facts: latchFacts },
  { recipe: 'a cohort', facts: cohortFacts },
  { recipe: "the caller's context", facts: callerContextFacts },
  { recipe: 'once per slot', facts: oncePerFacts },
];
