import { describeContest } from './describe-contest.ts';

describeContest({
  processes: 8,
  rounds: 1_000,
  kills: 50,
  soonMs: 3_000,
  withinMs: 600_000,
  chance: () => Math.random(),
  tell: (what) => {
    console.log(what);
  },
});
