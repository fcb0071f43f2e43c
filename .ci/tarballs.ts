import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative } from 'node:path';
import { rewriteLinks } from './links.ts';
import type { PublicPackage } from './packages.ts';
import { repositoryUrl } from './repository.ts';

/** Returns the path of a package's tarball in the folder that was passed to `packAll`. */
export function tarballOf(name: string, folder: string): string {
  return join(folder, `queuelock-${name}.tgz`);
}

/**
 * Packs the packages as they are published. Links of their READMEs point to the repository, since a package
 * on npm has no other files.
 */
export function packAll(packages: readonly PublicPackage[], destination: string): void {
  const filters = packages.flatMap(({ name }) => ['--filter', `@queuelock/${name}`]);
  execFileSync('pnpm', [...filters, 'pack', '--out', join(destination, '%s.tgz')], { stdio: 'pipe' });
  for (const { name } of packages) withAbsoluteLinks(name, tarballOf(name, destination));
}

/** Unpacks a tarball into an existing folder. */
export function unpack(tarball: string, folder: string): void {
  execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
}

function withAbsoluteLinks(name: string, tarball: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'queuelock-links-'));
  try {
    execFileSync('tar', ['-xzf', tarball, '-C', folder]);
    const readme = join(folder, 'package', 'README.md');
    writeFileSync(readme, onNpm(readFileSync(readme, 'utf8'), `packages/${name}`));
    execFileSync('tar', ['-czf', tarball, '-C', folder, 'package']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Returns the page with each relative link replaced by the URL of its target in the repository. `folder` is
 * the folder of the page in the repository.
 */
export function onNpm(page: string, folder: string): string {
  const url = repositoryUrl();
  return rewriteLinks(page, ({ path, anchor, isImage }) => {
    if (path === '') return undefined;
    const target = posix.join(folder, path);
    if (isImage) return `${url.replace('github.com', 'raw.githubusercontent.com')}/main/${target}`;
    const kind = statSync(join(dirname(import.meta.dirname), target)).isDirectory() ? 'tree' : 'blob';
    return `${url}/${kind}/main/${relative('', target)}${anchor}`;
  });
}
