/**
 * Checks the packages as users install them. It packs all of them, checks each tarball with publint and attw,
 * and compiles a program that imports all of them. integration/consumers.long.ts tests further compilers and
 * module resolutions.
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

/** Findings of attw to ignore: it does not know that `require` of an ES module works from Node 20.19 on. */
const NOT_SERVED = ['node16-cjs'];

/** Returns publint's findings about the entry points of a package. */
async function lint(tarball: Buffer): Promise<string[]> {
  const { messages, pkg } = await publint({
    pack: { tarball: new Uint8Array(tarball).buffer },
    strict: true,
  });
  return messages
    .filter(({ type }) => type === 'error')
    .map((message) => formatMessage(message, pkg) ?? message.code);
}

/** Returns attw's findings about the types of a package. */
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
    // A package without exports, such as the command `queuelock`, has no types to resolve.
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
