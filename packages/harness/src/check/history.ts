import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Recorder } from './recorder.ts';
import type { Run } from './run.ts';
import type { ChaosEvent } from './event.ts';

/**
 * Reads all `*.jsonl` files of a directory, one event at a time. If the last line of a file is incomplete, because the process
 * was killed while it wrote, the line is skipped and counted. Any other line that is not JSON is an error.
 */
export async function readRun(directory: string): Promise<{ readonly run: Run; readonly files: number }> {
  const recorder = new Recorder();
  const files = await historiesIn(directory);
  for (const file of files) {
    let who = basename(file, '.jsonl');
    const isTorn = await eachEvent(file, (event) => {
      who = event.who;
      recorder.take(event);
    });
    if (isTorn) recorder.tear(who);
  }
  return { run: recorder.finish(), files: files.length };
}

/** Builds a run from events in memory. The events of each process must have the order in which that process recorded them. */
export function runOf(events: Iterable<ChaosEvent>): Run {
  const recorder = new Recorder();
  for (const event of events) recorder.take(event);
  return recorder.finish();
}

/**
 * Calls `take` with each event in the files of a directory. The events of each process have the order in which that process
 * recorded them.
 */
export async function forEachEvent(directory: string, take: (event: ChaosEvent) => void): Promise<void> {
  for (const file of await historiesIn(directory)) await eachEvent(file, take);
}

/** Returns the selected events of all files, sorted by stamp. All of them must fit into memory. */
export async function readEvents(
  directory: string,
  wanted: (event: ChaosEvent) => boolean = () => true,
): Promise<ChaosEvent[]> {
  const events: ChaosEvent[] = [];
  await forEachEvent(directory, (event) => {
    if (wanted(event)) events.push(event);
  });
  return byStamp(events);
}

/** Sorts events by their stamps. Events with the same stamp keep their order. */
export function byStamp(events: readonly ChaosEvent[]): ChaosEvent[] {
  const stamped = events.map((event) => ({ event, t: BigInt(event.t) }));
  return stamped.sort((a, b) => (a.t < b.t ? -1 : a.t > b.t ? 1 : 0)).map(({ event }) => event);
}

async function historiesIn(directory: string): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.jsonl')).sort();
  if (names.length === 0) throw new Error(`No history: "${directory}" has no file that ends in .jsonl.`);
  return names.map((name) => join(directory, name));
}

/** Reads all events of one file. Resolves with whether its last line is incomplete. */
async function eachEvent(file: string, take: (event: ChaosEvent) => void): Promise<boolean> {
  let line = 0;
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) take(parse(text, { file, line: ++line }));
  }
  if (rest === '') return false;
  try {
    take(JSON.parse(rest) as ChaosEvent);
    return false;
  } catch {
    return true;
  }
}

function parse(text: string, at: { file: string; line: number }): ChaosEvent {
  try {
    return JSON.parse(text) as ChaosEvent;
  } catch (cause) {
    throw new Error(
      `Line ${at.line} of "${at.file}" is no JSON, and it is not the last: ${text.slice(0, 80)}`,
      { cause },
    );
  }
}
