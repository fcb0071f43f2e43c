/**
 * Checks the packages as their users get them: packs all of them, asks publint and attw about each tarball, and compiles a program that imports
 * all of them. The other compilers and ways of resolution are in integration/consumers.long.ts.
 */
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve as resolvePath } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { compileConsumer, installConsumer } from './consumer.ts';
import { publicPackages } from './packages.ts';
import { packAll, tarballOf } from './tarballs.ts';

/** `require` of an ES module is served from Node 20.19 on, which this tool does not know. */
const NOT_SERVED = ['node16-cjs'];

/** What is not as it should be with what is imported. */
async function lint(tarball: Buffer): Promise<string[]> {
  const { messages, pkg } = await publint({
    pack: { tarball: new Uint8Array(tarball).buffer },
    strict: true,
  });
  return messages
    .filter(({ type }) => type === 'error')
    .map((message) => formatMessage(message, pkg) ?? message.code);
}

/** What is not as it should be with the types of what is imported. */
async function resolve(tarball: Buffer): Promise<string[]> {
  const found = await checkPackage(createPackageFromTarballData(tarball));
  if (!found.types) return ['it brings no types'];
  return found.problems
    .filter((problem) => !('resolutionKind' in problem && NOT_SERVED.includes(problem.resolutionKind)))
    .map((problem) => JSON.stringify(problem));
}

const tarballs = mkdtempSync(join(tmpdir(), 'queuelock-pack-'));
try {
  const packages = publicPackages();
  packAll(packages, tarballs);
  for (const { name, doors } of packages) {
    const tarball = readFileSync(tarballOf(name, tarballs));
    // A command without exports has no types to resolve.
    const wrong = [...(await lint(tarball)), ...(doors.length > 0 ? await resolve(tarball) : [])];
    if (wrong.length > 0) process.exitCode = 1;
    const judged = wrong.length > 0 ? 'not fit to publish' : 'packed and checked';
    console.log([`@queuelock/${name}: ${judged}`, ...wrong].join('\n  '));
  }
  const consumer = join(tarballs, 'consumer');
  mkdirSync(consumer);
  installConsumer(consumer, tarballs, packages);
  const wrong = compileConsumer(consumer, [resolvePath('node_modules/.bin/tsc')], 'nodenext');
  if (wrong.length > 0) process.exitCode = 1;
  console.log(['a program that imports all of them: compiled', ...wrong].join('\n  '));
} finally {
  rmSync(tarballs, { recursive: true });
}
