// Checks the packages as their users get them: packs all of them, then asks publint and attw about each tarball.
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { publicPackages, type PublicPackage } from './packages.ts';

/** Ways to resolve that packages of ES modules do not serve. */
const NOT_SERVED = ['node10', 'node16-cjs'];

function packAll(packages: readonly PublicPackage[], destination: string): void {
  const filters = packages.flatMap(({ name }) => ['--filter', `@queuelock/${name}`]);
  execFileSync('pnpm', [...filters, 'pack', '--out', join(destination, '%s.tgz')], { stdio: 'pipe' });
}

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
    const tarball = readFileSync(join(tarballs, `queuelock-${name}.tgz`));
    // A command without exports has no types to resolve.
    const wrong = [...(await lint(tarball)), ...(doors.length > 0 ? await resolve(tarball) : [])];
    if (wrong.length > 0) process.exitCode = 1;
    const judged = wrong.length > 0 ? 'not fit to publish' : 'packed and checked';
    console.log([`@queuelock/${name}: ${judged}`, ...wrong].join('\n  '));
  }
} finally {
  rmSync(tarballs, { recursive: true });
}
