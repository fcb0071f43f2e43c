import { readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { installPackages } from '@queuelock/harness/services/install';
import { assertPrepared } from '@queuelock/harness/services/prepared';
import { findProgram, isReadable } from '@queuelock/harness/services/programs';
import { findJava } from '@queuelock/harness/services/zookeeper-process';

const run = promisify(execFile);
// Jars of Debian's packages that the Java programs of the tests use. Their manifests name the other jars that
// they need.
const JARS = ['curator-recipes', 'curator-framework', 'curator-client', 'zookeeper', 'slf4j-nop'].map(
  (name) => `/usr/share/java/${name}.jar`,
);
// Options that make Java use little memory and processor time, because the tests run many Java processes at
// the same time.
const SMALL = ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/**
 * Compiles all sources of a folder against Apache Curator. Resolves with the command that runs one of the
 * classes.
 */
export async function compileJava(
  sources: string,
  classes: string,
): Promise<(main: string) => readonly [string, ...string[]]> {
  await installMissing();
  const classPath = [classes, ...JARS].join(delimiter);
  const files = (await readdir(sources)).filter((name) => name.endsWith('.java'));
  await run('javac', ['-cp', classPath, '-d', classes, ...files.map((name) => join(sources, name))]);
  const java = (await findJava()) ?? 'java';
  return (main) => [java, ...SMALL, '-cp', classPath, main];
}

async function installMissing(): Promise<void> {
  assertPrepared('Curator');
  const hasJars = (await Promise.all(JARS.map(isReadable))).every(Boolean);
  const hasCompiler = (await findProgram('javac')) !== undefined;
  const packages = [
    ...(hasJars ? [] : ['libcurator-recipes-java', 'libslf4j-java']),
    ...(hasCompiler ? [] : ['default-jdk-headless']),
  ];
  if (packages.length > 0) await installPackages(packages);
}
