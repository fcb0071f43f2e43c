/**
 * Assigns the test files to groups. `*.test.ts` are the gate: they test whether a change is correct, take
 * little time, and never depend on the speed of the machine. `*.long.ts` are all other tests: clusters,
 * faults, databases, browsers, further key formats, and measurements.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A group of tests, which one mocha process runs. */
export interface Group {
  readonly name: string;
  readonly files: readonly string[];
  /** Pattern of the titles to run. Default: all tests of the files. */
  readonly titles?: string;
}

/**
 * Groups of tests: the name of each, and a pattern of its files. A file belongs to the first group whose
 * pattern matches.
 */
type Rooms = readonly (readonly [name: string, files: RegExp])[];

// Groups that wait for servers come first, so that groups that mostly use the processor run during those
// waits. The longest groups of either kind come before the shorter ones.
const GATE: Rooms = [
  ['etcd', /^packages\/etcd\//],
  ['zookeeper', /^packages\/(zookeeper|bench)\//],
  ['stores', /^packages\/(recipes|cron|bullmq|redis|postgres|mysql|sqlite|consul)\//],
  ['scenarios', /^integration\/(scenarios|recipes)\//],
  ['harness', /^(packages\/harness|integration)\//],
  ['command', /^packages\/(cli|bridge|dashboard|react|weblocks)\//],
  ['others', /^/],
];

const LONG: Rooms = [
  // The tests of the simulation compute for a long time, and measure no durations.
  ['simulation', /^packages\/simulation\//],
  ['harness', /^(packages\/harness\/|integration\/compilers)/],
  // The group `storms` measures the processor time and memory of a process whose servers do not respond.
  ['storms', /^packages\/(etcd|zookeeper)\/.*(storm|cuts)\.long\./],
  ['packages', /^packages\//],
  ['interop', /^integration\/interop\//],
  ['fencing', /^integration\/fencing\//],
  ['pages', /^integration\/(ui|weblocks)\//],
  // The tests of the group `crowds` start eight processes with three servers each, or hundreds of sessions.
  ['crowds', /^integration\/chaos\/(chaos|soak|storms|zookeeper-many)\./],
  ['faults', /^integration\/chaos\//],
  ['scenarios', /^/],
];

/** The names of the parts of the long run, for the command line. */
export const PARTS: readonly string[] = LONG.map(([name]) => name);

const ALONE = ['storms', 'crowds'];

/** Returns the groups of the gate. */
export function gate(): readonly Group[] {
  return divide(filesEndingWith(/\.test\.tsx?$/), GATE);
}

/** Returns the groups of one part of the long run. */
export function long(part: string): readonly Group[] {
  const groups = divide(filesEndingWith(/\.long\.tsx?$/), LONG).filter(({ name }) => name === part);
  return ALONE.includes(part) ? groups : groups.flatMap(inTwo);
}

/**
 * Splits a group into the tests of ZooKeeper and all others. The halves can run at the same time, which saves
 * time because both mostly wait for servers.
 */
function inTwo({ name, files }: Group): readonly Group[] {
  return [
    { name: `${name}, ZooKeeper`, files, titles: '^(?=.*zookeeper)' },
    { name, files, titles: '^(?!.*zookeeper)' },
  ];
}

/** Divides files into groups. Each file is in exactly one group. */
export function divide(files: readonly string[], rooms: Rooms): readonly Group[] {
  const roomOf = (file: string): string | undefined => rooms.find(([, pattern]) => pattern.test(file))?.[0];
  return rooms
    .map(([name]) => ({ name, files: files.filter((file) => roomOf(file) === name) }))
    .filter((group) => group.files.length > 0);
}

function filesEndingWith(ending: RegExp): readonly string[] {
  const packages = readdirSync('packages', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const roots = [...packages.map(({ name }) => `packages/${name}/test`), 'integration'];
  return roots.flatMap(filesBelow).filter((file) => ending.test(file));
}

function filesBelow(directory: string): readonly string[] {
  const entries = readdirSync(directory, { withFileTypes: true }).filter(
    ({ name }) => name !== 'node_modules',
  );
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}
