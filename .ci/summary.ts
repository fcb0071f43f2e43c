import { MOST_FLAKY, type Failure, type Settled } from './outcome.ts';

// Number of lines shown of a failure's cause. The first lines name the error, and the last lines show how a
// program ended. The complete output is printed by the test itself.
const FIRST_LINES_OF_A_CAUSE = 8;
const LAST_LINES_OF_A_CAUSE = 16;
const LONGEST_FILES = 5;

/**
 * Prints the skipped tests with their reasons, the flaky tests, the failures, and as the last line the
 * counts.
 */
export function printSummary({ passed, failures, skipped, flaky, took }: Settled): void {
  printLongest(took);
  if (skipped.length > 0) console.log('\nSkipped');
  for (const { title, reason } of skipped) console.log(`  ${title}: ${reason}`);
  if (flaky.length > 0)
    console.log(`\nflaky: failed, and passed when run by itself (at most ${MOST_FLAKY} may)`);
  for (const failure of flaky) printFailure(failure);
  if (failures.length > 0) console.log('\nFailed');
  for (const failure of failures) printFailure(failure);
  const counts = [`${passed.length} passed`, `${failures.length} failed`, `${skipped.length} skipped`];
  console.log(`\n${counts.join(', ')}`);
}

/** Prints the suites that took the longest, for the case that the tests take too long. */
function printLongest(took: Settled['took']): void {
  const seconds = new Map<string, number>();
  for (const { file, ms } of took) seconds.set(file, (seconds.get(file) ?? 0) + ms / 1000);
  const longest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, LONGEST_FILES);
  if (longest.length > 0) console.log('\nTook the longest');
  for (const [file, s] of longest) console.log(`  ${s.toFixed(1).padStart(6)} s  ${file}`);
}

function printFailure({ file, title, cause, isUnsafe }: Failure): void {
  console.log(`  ${file}${file === '' ? '' : ': '}${title}${isUnsafe ? ' (SAFETY)' : ''}`);
  for (const line of inShort(cause.split('\n').filter(Boolean))) console.log(`      ${line.trim()}`);
}

function inShort(lines: readonly string[]): readonly string[] {
  const first = lines.slice(0, FIRST_LINES_OF_A_CAUSE);
  const last = lines.slice(first.length).slice(-LAST_LINES_OF_A_CAUSE);
  const leftOut = lines.length - first.length - last.length;
  return [...first, ...(leftOut > 0 ? [`... ${leftOut} lines ...`] : []), ...last];
}
