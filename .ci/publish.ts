/**
 * Publishes each package whose version the registry does not have, dependencies first, from the same tarballs
 * that were checked. Runs in the release workflow, whose identity npm trusts (trusted publishing), so there
 * is no token. --dry-run publishes nothing.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publicPackages, type PublicPackage } from './packages.ts';
import { hasPlaceholder, PLACEHOLDER } from './repository.ts';
import { packAll, tarballOf } from './tarballs.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const isDryRun = process.argv.includes('--dry-run');

function manifestOf({ folder }: PublicPackage): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/**
 * Returns the packages with dependencies first, so that the registry never has a package without its
 * dependencies.
 */
function inOrder(packages: readonly PublicPackage[]): readonly PublicPackage[] {
  const done = new Set<PublicPackage>();
  const visit = (one: PublicPackage): void => {
    if (done.has(one)) return;
    const needed = Object.keys(manifestOf(one).dependencies ?? {});
    for (const other of packages) if (needed.includes(`@queuelock/${other.name}`)) visit(other);
    done.add(one);
  };
  for (const one of packages) visit(one);
  return [...done];
}

/**
 * Returns whether the registry has this version. Throws on any response other than success or "not found".
 */
function isPublished({ name, version }: Manifest): boolean {
  const { status, stdout, stderr } = spawnSync('npm', ['view', `${name}@${version}`, 'version', '--json'], {
    encoding: 'utf8',
  });
  if (status === 0) return stdout.includes(version);
  if (stdout.includes('E404') || stderr.includes('E404')) return false;
  throw new Error(`npm view ${name}@${version} failed: ${stderr}`);
}

if (hasPlaceholder() && !isDryRun)
  throw new Error(
    `package.json: repository still names the owner ${PLACEHOLDER}; npm would refuse the provenance`,
  );
const folder = mkdtempSync(join(tmpdir(), 'queuelock-publish-'));
try {
  const packages = publicPackages();
  packAll(packages, folder);
  for (const one of inOrder(packages)) {
    const manifest = manifestOf(one);
    const label = `${manifest.name}@${manifest.version}`;
    if (isPublished(manifest)) {
      console.log(`${label}: published already`);
      continue;
    }
    const flags = isDryRun ? ['--dry-run'] : ['--provenance'];
    execFileSync('npm', ['publish', tarballOf(one.name, folder), '--access', 'public', ...flags], {
      stdio: 'inherit',
    });
    console.log(`${label}: ${isDryRun ? 'would be published' : 'published'}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
