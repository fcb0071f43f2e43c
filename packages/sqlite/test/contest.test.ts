import { describeContest } from './describe-contest.ts';

// The lease is a minute. Steps of less than a half reach everybody, and are the same every time.
let latest = 0;
const chance = (): number => (latest = (latest + 0.382) % 1);

describeContest({ processes: 4, rounds: 50, kills: 3, soonMs: 20_000, withinMs: 120_000, chance });
