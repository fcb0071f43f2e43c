import { describeContest } from './describe-contest.ts';

// Decides which process is killed when: numbers from 0 to 1 in place of random ones, well spread and the same
// in every run.
let latest = 0;
const chance = (): number => (latest = (latest + 0.382) % 1);

describeContest({ processes: 4, rounds: 50, kills: 3, soonMs: 20_000, withinMs: 120_000, chance });
