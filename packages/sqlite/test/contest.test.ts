import { describeContest } from './describe-contest.ts';

// Returns numbers from 0 to 1, which decide when a process is killed and which one. They are well spread, and
// the same in every run, unlike random numbers.
let latest = 0;
const chance = (): number => (latest = (latest + 0.382) % 1);

describeContest({ processes: 4, rounds: 50, kills: 3, soonMs: 20_000, withinMs: 120_000, chance });
