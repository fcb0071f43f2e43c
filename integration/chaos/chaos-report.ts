import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { timelineOf } from '@queuelock/harness/timeline/timeline';
import type { Verdict } from '@queuelock/harness/check';
import { withEvents } from '@queuelock/harness/check/context';
import type { Run } from '@queuelock/harness/check/run';
import type { ChaosOutcome } from './chaos-run.ts';
import { inWindow, windowsOf, type Window } from './chaos-windows.ts';
import { reportOf } from './report.ts';
import { violationsOf } from '@queuelock/harness/check/violations';

export interface ReportTerms {
  /** Directory of the report; an earlier report in it is replaced. */
  readonly out: string;
  /** The command line of `pnpm chaos` that repeats the run. */
  readonly command: string;
  /** Whether to keep the histories of a run without violations. */
  readonly keep: boolean;
}

const HISTORIES = 'histories';

/** Writes the report of a run, and removes or keeps its histories. */
export async function writeReport(outcome: ChaosOutcome, terms: ReportTerms): Promise<void> {
  const { run, directory, schedule } = outcome;
  const { out, keep } = terms;
  const verdict = { ...outcome.verdict, findings: await withEvents(directory, outcome.verdict.findings) };
  await mkdir(out, { recursive: true });
  await rm(join(out, HISTORIES), { recursive: true, force: true });
  await writeFile(join(out, 'schedule.json'), `${JSON.stringify(schedule, undefined, 2)}\n`);
  const violations = violationsOf(run, verdict.findings);
  const pictures = windowsOf(run, verdict.findings).map((window, index) => ({
    file: index === 0 ? 'timeline.svg' : `timeline-${index + 1}.svg`,
    svg: timelineOf(inWindow(run, window), { title: titleOf(outcome), violations, window }),
    window,
  }));
  for (const { file, svg } of pictures) await writeFile(join(out, file), svg);
  await writeFile(join(out, 'report.md'), textOf(outcome, { run, verdict, pictures, ...terms }));
  if (keep || verdict.findings.length > 0) await cp(directory, join(out, HISTORIES), { recursive: true });
  await rm(directory, { recursive: true });
}

interface Parts extends ReportTerms {
  readonly run: Run;
  readonly verdict: Verdict;
  readonly pictures: readonly { readonly file: string; readonly window: Window }[];
}

function textOf(outcome: ChaosOutcome, { run, verdict, pictures, command }: Parts): string {
  const { schedule, description, failures, performed } = outcome;
  const { skipped, failure } = performed;
  const [first, ...others] = pictures;
  const ended = [...failures].map(([code, count]) => `${count} ${code}`).join(', ') || 'none';
  const about = [
    description,
    `${schedule.faults.length} faults planned (schedule.json), ${skipped.length} of them left out: late, or nothing to strike`,
    `attempts that ended in an error: ${ended}`,
    ...(failure ? [`it ended early: ${failure.message}`] : []),
  ];
  const snapshot = first ? { snapshot: first.file } : {};
  const report = reportOf(run, verdict, {
    title: titleOf(outcome),
    command,
    seed: schedule.seed,
    ran: about,
    ...snapshot,
  });
  const more = others.map(({ file, window: [from, to] }) => `- [${from} to ${to} s](${file})`);
  return more.length === 0 ? report : `${report}\n## More pictures\n\n${more.join('\n')}\n`;
}

function titleOf({ schedule }: ChaosOutcome): string {
  const { capabilities, minutes } = schedule;
  return `${capabilities.store}: ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} of faults`;
}
