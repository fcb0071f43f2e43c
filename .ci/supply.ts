/**
 * Computes from the lockfile what an installation of each published package contains: third-party packages,
 * total size, and packages with install scripts. Checks that the table in packages/SECURITY-MODEL.md shows
 * these numbers; --update writes the table, so that a review shows every increase. An installation that
 * exceeds its budget fails the check.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOfOthers, bytesOfOurs } from './install-size.ts';
import { publicPackages } from './packages.ts';

const PAGE = 'packages/SECURITY-MODEL.md';
const BEGIN = '<!-- supply: written by .ci/supply.ts -->\n';
const END = '<!-- supply: end -->';

/**
 * The limits of an installation: number of third-party packages, and megabytes of all packages, RxJS
 * included.
 */
interface Budget {
  readonly packages: number;
  readonly megabytes: number;
}

const USUAL: Budget = { packages: 10, megabytes: 16 };
// Larger budgets than the usual one, for packages that depend on a client library, a renderer or a command.
const MORE: Readonly<Record<string, Budget>> = {
  bullmq: { packages: 20, megabytes: 20 },
  cli: { packages: 56, megabytes: 50 },
  conformance: { packages: 30, megabytes: 20 },
  mysql: { packages: 16, megabytes: 15 },
  nestjs: { packages: 26, megabytes: 18 },
  postgres: { packages: 18, megabytes: 10 },
  sqlite: { packages: 6, megabytes: 40 },
};

/** The parsed subset of YAML that pnpm's lockfile uses: mappings by indentation, and plain values. */
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

/**
 * Returns the names of packages that npm installs with a package. Optional peers are left out: the
 * application chooses these.
 */
function installedWith(folder: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest;
  const peers = Object.keys(peerDependencies).filter(
    (name) => manifest.peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers];
}

/** All packages that npm installs together with one of queuelock's packages. */
interface Closure {
  /** Third-party packages of the installation, as `name@version`. */
  readonly others: readonly string[];
  /** Folders of queuelock's packages in the installation, the installed package included. */
  readonly ours: readonly string[];
}

function closureOf(folder: string, lock: Tree): Closure {
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
    // Optional peers are skipped: they are in the lockfile only because other packages of the workspace need
    // them.
    const peers = treeAt(lock, 'packages', snapshot.replace(/\(.*$/, ''), 'peerDependenciesMeta');
    for (const section of ['dependencies', 'optionalDependencies'])
      for (const [name, version] of Object.entries(treeAt(lock, 'snapshots', snapshot, section)))
        if (typeof version === 'string' && !(name in peers)) take(snapshotOf(lock, name, version));
  };
  takeOwn(folder);
  const others = new Set([...found].map((snapshot) => snapshot.replace(/\(.*$/, '')));
  return { others: [...others], ours: [...own] };
}

/**
 * Returns the key of a dependency in the lockfile: its name and version. For an alias, the version already
 * contains the name of the package that the alias refers to.
 */
function snapshotOf(lock: Tree, name: string, version: string): string {
  const snapshots = treeAt(lock, 'snapshots');
  const found = [`${name}@${version}`, version].find((snapshot) => snapshot in snapshots);
  if (found === undefined) throw new Error(`${name}@${version} is not in the lockfile`);
  return found;
}

/**
 * Returns the packages with install scripts. The list is complete: pnpm fails for a package with an install
 * script that is not listed.
 */
function withScripts(): ReadonlySet<string> {
  const workspace = parsed(readFileSync('pnpm-workspace.yaml', 'utf8'));
  return new Set(Object.keys(treeAt(workspace, 'allowBuilds')));
}

/** The contents of an installation of one package. */
interface Installation extends Budget {
  readonly name: string;
  /** Names of the installed packages that have an install script. */
  readonly scripts: readonly string[];
}

function installations(): readonly Installation[] {
  const lock = parsed(readFileSync('pnpm-lock.yaml', 'utf8'));
  const scripted = withScripts();
  return publicPackages().map(({ name }) => {
    const { others, ours } = closureOf(join('packages', name), lock);
    const names = new Set(others.map((one) => one.slice(0, one.lastIndexOf('@'))));
    const bytes = [...others.map(bytesOfOthers), ...ours.map(bytesOfOurs)];
    return {
      name,
      packages: others.length,
      megabytes: Math.ceil(bytes.reduce((sum, one) => sum + one, 0) / 1e6),
      scripts: [...names].filter((one) => scripted.has(one)).toSorted(),
    };
  });
}

function table(all: readonly Installation[]): string {
  const rows = all.map(({ name, packages, megabytes, scripts }) => {
    const shown = scripts.map((one) => `\`${one}\``).join(', ') || 'none';
    return `| \`@queuelock/${name}\` | ${packages} | ${megabytes} | ${shown} |`;
  });
  const head = '| package | packages of others | megabytes in all | with an install script |';
  return [head, '| --- | --- | --- | --- |', ...rows].join('\n');
}

/**
 * Returns the installation with the size that packages/SECURITY-MODEL.md shows, if that differs by at most 1
 * MB from the present size. So small differences between builds do not change the page.
 */
function withMegabytesShown(installation: Installation): Installation {
  const cells = page.split('\n').find((line) => line.startsWith(`| \`@queuelock/${installation.name}\` `));
  const megabytes = Number(cells?.split('|')[3]);
  return Math.abs(megabytes - installation.megabytes) <= 1 ? { ...installation, megabytes } : installation;
}

const installed = installations();
for (const { name, packages, megabytes } of installed) {
  const budget = MORE[name] ?? USUAL;
  if (packages <= budget.packages && megabytes <= budget.megabytes) continue;
  console.error(
    `@queuelock/${name} brings ${packages} packages of others along and ${megabytes} MB in all; its budget in .ci/supply.ts is ${budget.packages} and ${budget.megabytes} MB.`,
  );
  process.exitCode = 1;
}

const page = readFileSync(PAGE, 'utf8');
const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
if (from < BEGIN.length || to < from) throw new Error(`${PAGE} has no place for the table`);
const cellsOf = (text: string): string => text.replace(/ +/g, ' ').replace(/-+/g, '-').trim();
const shown = page.slice(from, to);
const actual = table(installed.map(withMegabytesShown));
if (process.argv.includes('--update'))
  writeFileSync(PAGE, `${page.slice(0, from)}\n${table(installed)}\n\n${page.slice(to)}`);
else if (cellsOf(shown) !== cellsOf(actual)) {
  console.error(
    `${PAGE} does not say what an installation brings along; it is now:\n${actual}\nRun pnpm supply if that is meant.`,
  );
  process.exitCode = 1;
}
