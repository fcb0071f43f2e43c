/**
 * Which tests run where. `*.test.ts` ask whether a change is right, in short, and never how fast the machine is: they are the gate.
 * `*.long.ts` ask the rest: clusters, faults, mixtures, databases, browsers, further namings, whatever takes long or is measured.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What one process of mocha runs. */
export interface Group {
  readonly name: string;
  readonly files: readonly string[];
  /** Of all tests in the files, those with such titles. */
  readonly titles?: string;
}

/** A name, and the files that have it: the first that fits. */
type Rooms = readonly (readonly [name: string, files: RegExp])[];

// First those that wait for servers: what the checks compute beside them fits in between. Then the longest first.
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
  // Computes, for long; it times nothing.
  ['simulation', /^packages\/simulation\//],
  ['harness', /^(packages\/harness\/|integration\/compilers)/],
  // They judge the processor time and the memory of a process whose servers do not serve.
  ['storms', /^packages\/(etcd|zookeeper)\/.*(storm|cuts)\.long\./],
  ['packages', /^packages\//],
  ['interop', /^integration\/interop\//],
  ['fencing', /^integration\/fencing\//],
  ['pages', /^integration\/(ui|weblocks)\//],
  // Eight processes and three servers each, or sessions by the hundred.
  ['crowds', /^integration\/chaos\/(chaos|soak|storms|zookeeper-many)\./],
  ['faults', /^integration\/chaos\//],
  ['scenarios', /^/],
];

/** What one can ask for of the long run. */
export const PARTS: readonly string[] = LONG.map(([name]) => name);

const ALONE = ['storms', 'crowds'];

/** The processes of the gate. */
export function gate(): readonly Group[] {
  return divide(filesEndingWith(/\.test\.tsx?$/), GATE);
}

/** The processes of one part of the long run. */
export function long(part: string): readonly Group[] {
  const groups = divide(filesEndingWith(/\.long\.tsx?$/), LONG).filter(({ name }) => name === part);
  return ALONE.includes(part) ? groups : groups.flatMap(inTwo);
}

/** Servers take time more than processors: ZooKeeper's tests and all others, each on a processor. */
function inTwo({ name, files }: Group): readonly Group[] {
  return [
    { name: `${name}, ZooKeeper`, files, titles: '^(?=.*zookeeper)' },
    { name, files, titles: '^(?!.*zookeeper)' },
  ];
}

/** Every file is in one room. */
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
