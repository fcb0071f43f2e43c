/**
 * Makes the next release in a copy of the repository, as the release workflow does, and checks the copy.
 * Every published package must have the same new version and a change log that names it. Private packages
 * must keep their version. Nothing is published, and this repository is not changed.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { publicPackages } from './packages.ts';

/** A changeset that is added when there is no other, so that the check always has a release to make. */
const EXAMPLE = "---\n'@queuelock/core': patch\n---\n\nAn example, in the copy only.\n";

function manifestsHere(): readonly string[] {
  const folders = ['.', 'integration', ...readdirSync('packages').map((name) => join('packages', name))];
  return folders.map((folder) => join(folder, 'package.json')).filter((path) => existsSync(path));
}

function copyTo(folder: string): void {
  const logs = publicPackages().map(({ name }) => join('packages', name, 'CHANGELOG.md'));
  const files = [
    ...manifestsHere(),
    ...logs.filter((path) => existsSync(path)),
    'pnpm-workspace.yaml',
    '.changeset',
  ];
  for (const path of files) cpSync(path, join(folder, path), { recursive: true });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  if (changesetsIn(folder).length === 0) writeFileSync(join(folder, '.changeset', 'example.md'), EXAMPLE);
  const git = (...args: readonly string[]): unknown =>
    execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch', 'main');
  git('add', 'package.json');
  git(
    '-c',
    'user.name=check',
    '-c',
    'user.email=check@example.org',
    'commit',
    '--quiet',
    '--message',
    'copy',
  );
}

function changesetsIn(folder: string): readonly string[] {
  return readdirSync(join(folder, '.changeset')).filter(
    (name) => name.endsWith('.md') && name !== 'README.md',
  );
}

function versionIn(manifest: string): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version ?? 'none';
}

function* wrongWith(copy: string): Generator<string> {
  const published = publicPackages().map(({ name }) => join('packages', name));
  const next = versionIn(join(copy, 'packages/core/package.json'));
  for (const path of manifestsHere()) {
    const [before, after] = [versionIn(path), versionIn(join(copy, path))];
    const isPublished = published.some((folder) => path.startsWith(`${folder}/`));
    if (isPublished && (after !== next || after === before)) yield `${path} would have ${after}, not ${next}`;
    if (!isPublished && after !== before) yield `${path} is private, and would go from ${before} to ${after}`;
  }
  for (const folder of published) {
    const log = join(copy, folder, 'CHANGELOG.md');
    if (!existsSync(log) || !readFileSync(log, 'utf8').includes(`\n## ${next}\n`))
      yield `${folder}/CHANGELOG.md would not name ${next}`;
    if (!existsSync(join(folder, 'CHANGELOG.md'))) yield `${folder} has no CHANGELOG.md`;
  }
}

const copy = mkdtempSync(join(tmpdir(), 'queuelock-release-'));
try {
  copyTo(copy);
  const waiting = changesetsIn(copy).length;
  execFileSync(resolve('node_modules/.bin/changeset'), ['version'], { cwd: copy, stdio: 'pipe' });
  const wrong = [...wrongWith(copy)];
  for (const what of wrong) console.error(`release: ${what}`);
  if (wrong.length > 0) process.exitCode = 1;
  const version = versionIn(join(copy, 'packages/core/package.json'));
  console.log(
    `release: ${String(waiting)} changesets would make version ${version} of ${String(publicPackages().length)} packages`,
  );
} finally {
  rmSync(copy, { recursive: true });
}
