import type { Finding } from '@queuelock/harness/check/finding';
import type { Run } from '@queuelock/harness/check/run';

/** A period of a run, in seconds since its beginning. */
export type Window = readonly [from: number, to: number];

const SECONDS = 30;
const AROUND_SECONDS = 10;
const MAX_WINDOWS = 6;

/**
 * Returns the periods of a run to show: those around violations, and the one with the most kinds of faults.
 */
export function windowsOf(run: Run, findings: readonly Pick<Finding, 'at'>[]): Window[] {
  const length = (run.span.to - run.span.from) / 1e9;
  const moments = findings.map(({ at }) => secondsOf(run, run.momentOf(at)));
  const around = apart(moments).map((at): Window => clip([at - AROUND_SECONDS, at + AROUND_SECONDS], length));
  return [...around.slice(0, MAX_WINDOWS - 1), busiest(run, length)];
}

/**
 * Returns the run with only the workers that existed in the given period, sorted by number. In a long run
 * most workers started later or ended before.
 */
export function inWindow(run: Run, [from, to]: Window): Run {
  const byNumber = new Intl.Collator('en', { numeric: true });
  const lives = run.lives.filter(({ started, killed, exited }) => {
    const began = secondsOf(run, started ?? run.span.from);
    const ended = secondsOf(run, Math.min(killed ?? Infinity, exited?.at ?? Infinity));
    return began <= to && ended >= from;
  });
  return { ...run, lives: lives.sort((a, b) => byNumber.compare(a.who, b.who)) };
}

/**
 * Returns the times of a run in order, but leaves out each time that is less than 10 s away from one already
 * kept.
 */
function apart(moments: readonly number[]): number[] {
  const chosen: number[] = [];
  for (const at of moments)
    if (!chosen.some((other) => Math.abs(at - other) < AROUND_SECONDS)) chosen.push(at);
  return chosen;
}

function busiest(run: Run, length: number): Window {
  const begun = run.faults.map(({ what, from }) => ({ what, at: secondsOf(run, from) }));
  const starts = [0, ...begun.map(({ at }) => at - 1)].filter((at) => at + SECONDS <= length);
  const kindsFrom = (start: number): number =>
    new Set(begun.flatMap(({ what, at }) => (at >= start && at < start + SECONDS ? [what] : []))).size;
  const best = starts
    .map((start) => ({ start, kinds: kindsFrom(start) }))
    .reduce((most, next) => (next.kinds > most.kinds ? next : most), { start: 0, kinds: -1 });
  return clip([best.start, best.start + SECONDS], length);
}

function clip([from, to]: Window, length: number): Window {
  return [Math.max(0, Math.floor(from)), Math.min(Math.ceil(length), Math.ceil(to))];
}

function secondsOf(run: Run, moment: number): number {
  return (moment - run.span.from) / 1e9;
}
