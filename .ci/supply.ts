/**
 * What an installation of each published package brings along, by the lockfile: packages of others, and which of them run scripts when they
 * are installed. Checks that the table of packages/SECURITY-MODEL.md says so; --update writes it. More than before is to be seen in a review.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publicPackages } from './packages.ts';

const PAGE = 'packages/SECURITY-MODEL.md';
const BEGIN = '<!-- supply: written by .ci/supply.ts -->\n';
const END = '<!-- supply: end -->';

/** Parsed lines of YAML, as far as pnpm's lockfile uses it: mappings by indentation, and plain values. */
interface Tree {
  readonly [key: string]: Tree | string;
}

function parsed(text: string): Tree {
  const root: Record<string, Tree | string> = {};
  const open: { readonly indent: number; readonly tree: Record<string, Tree | string> }[] = [
    { indent: -1, tree: root },
  ];
  for (const line of text.split('\n')) {
    const [, blanks = '', quoted, plain, value = ''] =
      /^( *)(?:'([^']*)'|([^\s'#][^:]*(?::[^ :][^:]*)*)):(?: (.*))?$/.exec(line) ?? [];
    const key = quoted ?? plain;
    if (key === undefined) continue;
    while ((open.at(-1)?.indent ?? -1) >= blanks.length) open.pop();
    const tree: Record<string, Tree | string> = {};
    const parent = open.at(-1)?.tree ?? root;
    parent[key] = value === '' ? tree : unquoted(value);
    if (value === '') open.push({ indent: blanks.length, tree });
  }
  return root;
}

function unquoted(text: string): string {
  return text.replace(/^'(.*)'$/, '$1');
}

function treeAt(tree: Tree, ...path: readonly string[]): Tree {
  let here: Tree | string | undefined = tree;
  for (const key of path) here = typeof here === 'object' ? here[key] : undefined;
  return typeof here === 'object' ? here : {};
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Names that npm installs with a package: optional peers are the application's choice. */
function installedWith(folder: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest;
  const peers = Object.keys(peerDependencies).filter(
    (name) => manifest.peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers];
}

/** All packages of others that come with one of ours, as `name@version`. */
function closureOf(folder: string, lock: Tree): ReadonlySet<string> {
  const found = new Set<string>();
  const own = new Set<string>();
  const takeOwn = (below: string): void => {
    if (own.has(below)) return;
    own.add(below);
    const importer = treeAt(lock, 'importers', below);
    const sections = ['dependencies', 'optionalDependencies', 'devDependencies'];
    for (const name of installedWith(below)) {
      const { version } = Object.assign(
        {},
        ...sections.map((section) => treeAt(importer, section, name)),
      ) as {
        version?: string;
      };
      if (version === undefined) throw new Error(`${below}: ${name} is not in the lockfile`);
      if (version.startsWith('link:')) takeOwn(join(below, version.slice('link:'.length)));
      else take(`${name}@${version}`);
    }
  };
  const take = (snapshot: string): void => {
    if (found.has(snapshot)) return;
    found.add(snapshot);
    for (const section of ['dependencies', 'optionalDependencies'])
      for (const [name, version] of Object.entries(treeAt(lock, 'snapshots', snapshot, section)))
        if (typeof version === 'string') take(snapshotOf(lock, name, version));
  };
  takeOwn(folder);
  return new Set([...found].map((snapshot) => snapshot.replace(/\(.*$/, '')));
}

/** Where a dependency is described: an alias has the whole name of another package as its version. */
function snapshotOf(lock: Tree, name: string, version: string): string {
  const snapshots = treeAt(lock, 'snapshots');
  const found = [`${name}@${version}`, version].find((snapshot) => snapshot in snapshots);
  if (found === undefined) throw new Error(`${name}@${version} is not in the lockfile`);
  return found;
}

/** pnpm fails for a package with an install script that is not listed there. */
function withScripts(): ReadonlySet<string> {
  const workspace = parsed(readFileSync('pnpm-workspace.yaml', 'utf8'));
  return new Set(Object.keys(treeAt(workspace, 'allowBuilds')));
}

function table(): string {
  const lock = parsed(readFileSync('pnpm-lock.yaml', 'utf8'));
  const scripted = withScripts();
  const rows = publicPackages().map(({ name }) => {
    const packages = [...closureOf(join('packages', name), lock)];
    const names = new Set(packages.map((one) => one.slice(0, one.lastIndexOf('@'))));
    const scripts = [...names].filter((one) => scripted.has(one)).toSorted();
    return `| \`@queuelock/${name}\` | ${String(packages.length)} | ${scripts.map((one) => `\`${one}\``).join(', ') || 'none'} |`;
  });
  return ['| package | packages of others | with an install script |', '| --- | --- | --- |', ...rows].join(
    '\n',
  );
}

const page = readFileSync(PAGE, 'utf8');
const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
if (from < BEGIN.length || to < from) throw new Error(`${PAGE} has no place for the table`);
const cellsOf = (text: string): string => text.replace(/ +/g, ' ').replace(/-+/g, '-').trim();
const shown = page.slice(from, to);
const actual = table();
if (process.argv.includes('--update'))
  writeFileSync(PAGE, `${page.slice(0, from)}\n${actual}\n\n${page.slice(to)}`);
else if (cellsOf(shown) !== cellsOf(actual)) {
  console.error(
    `${PAGE} does not say what an installation brings along; it is now:\n${actual}\nRun pnpm supply if that is meant.`,
  );
  process.exitCode = 1;
}
