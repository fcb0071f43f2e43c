import type { Verdict } from '@queuelock/harness/check';
import type { Finding } from '@queuelock/harness/check/finding';
import type { Run } from '@queuelock/harness/check/run';
import type { ChaosEvent } from '@queuelock/harness/check/event';
import { markdownTable, tableOf } from './table.ts';

export interface ReportOptions {
  readonly title: string;
  /** The command line of `pnpm chaos` that repeats the run. */
  readonly command: string;
  readonly seed: number;
  /** The servers of the run with their versions, for instance `etcd 3.4.23, 3 members`. */
  readonly ran: readonly string[];
  /** Path of the file with the timeline of the run, relative to the report. */
  readonly snapshot?: string;
}

/**
 * Formats the result of a run as Markdown. Each violation that the checker found is shown with the events
 * around it.
 */
export function reportOf(run: Run, verdict: Verdict, options: ReportOptions): string {
  const { title, command, seed, ran, snapshot: picture } = options;
  const { findings, numbers } = verdict;
  const parts = [
    `# ${inText(title)}`,
    findings.length === 0 ? 'No violation was found.' : `**Violations found: ${findings.length}.**`,
    fenced(command),
    [`- Seed: ${seed}`, ...ran.map((each) => `- ${inText(each)}`)].join('\n'),
    `${numbers.events.toLocaleString('en-US')} events of ${numbers.workers} workers in ${(numbers.durationMs / 1e3).toFixed(1)} s` +
      (numbers.torn > 0 ? `; ${numbers.torn} histories break off, since their process was killed.` : '.'),
    markdownTable(tableOf([{ name: 'run', verdicts: [verdict] }])),
    ...(picture === undefined
      ? []
      : [`![Who held and waited when, and what went wrong](${encodeURI(picture)})`]),
    ...(findings.length === 0 ? [] : ['## Violations', ...findings.map((finding) => section(run, finding))]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function section(run: Run, finding: Finding): string {
  const { rule, queue, message, at, events } = finding;
  const where = queue === undefined ? '' : ` in queue ${inCode(queue)}`;
  const heading = `### ${rule}${where} at ${secondsOf(run, at)} s`;
  const lines = events.map((event) => `${pointerOf(event, finding)} ${lineOf(run, event)}`);
  return [heading, inText(message), ...(lines.length > 0 ? [fenced(lines.join('\n'))] : [])].join('\n\n');
}

function pointerOf(event: ChaosEvent, { at }: Finding): string {
  return event.t === at ? '>' : ' ';
}

/** Formats an event, for instance as `12.345678901 worker-3 acquired n=17 token=42`. */
function lineOf(run: Run, event: ChaosEvent): string {
  const { t, who, ev, ...rest } = event;
  const details = Object.entries(rest).map(([name, value]) => {
    const shown = name.endsWith('At') ? secondsOf(run, String(value)) : String(value);
    return `${name}=${/^[\w.:#/-]+$/.test(shown) ? shown : JSON.stringify(shown)}`;
  });
  return [secondsOf(run, t), who, ev, ...details].join(' ');
}

/** Formats the time since the beginning of the run in seconds, to the nanosecond. */
function secondsOf(run: Run, stamp: string): string {
  return ((run.momentOf(stamp) - run.span.from) / 1e9).toFixed(9);
}

/** Escapes characters of a text that have a meaning in Markdown or HTML. */
function inText(words: string): string {
  return words.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, '\\$&');
}

function inCode(words: string): string {
  return `\`${words.replaceAll('`', "'")}\``;
}

/** Puts content into a Markdown fence that the content cannot close. */
function fenced(content: string): string {
  const longest = Math.max(2, ...(content.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${content}\n${fence}`;
}
