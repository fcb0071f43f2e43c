/**
 * Checks the manifest of each published package. Its source, homepage and bug tracker must derive from
 * `repository` of the root manifest. `main`, `types` and `typesVersions` must repeat `exports`, for compilers
 * that do not read `exports`. --update writes all of these; keywords are written by hand. A package must also
 * declare the peers of its dependencies: only then do pnpm and yarn make the dependencies use the
 * application's copy of each peer.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publicPackages } from './packages.ts';
import { hasPlaceholder, PLACEHOLDER, repositoryUrl } from './repository.ts';

type Manifest = Readonly<Record<string, unknown>>;

/** Keywords that every package must have. */
const COMMON_KEYWORDS = ['queuelock', 'distributed-lock'];
const FEWEST_KEYWORDS = 5;
/** The keys of a package.json that directly follow `description`, in this order. */
const DESCRIBED = ['keywords', 'license', 'homepage', 'bugs', 'repository'];
/** The keys of a package.json that directly precede `exports`. */
const ENTRIES = ['main', 'types', 'typesVersions'];

function described(name: string, manifest: Manifest): Manifest {
  const url = repositoryUrl();
  const directory = `packages/${name}`;
  const links: Manifest = {
    keywords: manifest['keywords'] ?? [],
    license: manifest['license'],
    homepage: `${url}/tree/main/${directory}#readme`,
    bugs: `${url}/issues`,
    repository: { type: 'git', url: `git+${url}.git`, directory },
  };
  const entries = entriesOf(manifest);
  const ordered: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(manifest)) {
    if (DESCRIBED.includes(key) || ENTRIES.includes(key)) continue;
    if (key === 'exports') Object.assign(ordered, entries);
    ordered[key] = value;
    if (key === 'description') Object.assign(ordered, links);
  }
  return ordered;
}

/** Translates `exports` into the keys of package.json that module resolution `node10` reads. */
function entriesOf(manifest: Manifest): Manifest {
  const doors = Object.entries((manifest['exports'] ?? {}) as Record<string, Record<string, string>>);
  const root = doors.find(([subpath]) => subpath === '.')?.[1];
  const others = doors.filter(([subpath]) => subpath !== '.');
  const paths = Object.fromEntries(others.map(([subpath, { types }]) => [subpath.slice(2), [types]]));
  return {
    ...(root === undefined ? {} : { main: root['default'], types: root['types'] }),
    ...(others.length === 0 ? {} : { typesVersions: { '*': paths } }),
  };
}

function* wrongKeywords(manifest: Manifest): Generator<string> {
  const keywords = (manifest['keywords'] ?? []) as readonly string[];
  const missing = COMMON_KEYWORDS.filter((keyword) => !keywords.includes(keyword));
  if (missing.length > 0) yield `keywords do not have ${missing.join(', ')}`;
  if (new Set(keywords).size < FEWEST_KEYWORDS)
    yield `there are fewer than ${String(FEWEST_KEYWORDS)} keywords`;
}

/** The keys of a package.json that name its dependencies and peers. */
interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/**
 * Yields a message for each missing peer. A package has to declare the required peers of its queuelock
 * dependencies with the same range, unless it depends on those peers directly.
 */
function* missingPeers({ dependencies = {}, peerDependencies = {} }: Dependencies): Generator<string> {
  for (const own of Object.keys(dependencies).filter((name) => name.startsWith('@queuelock/'))) {
    const manifest = join('packages', own.slice('@queuelock/'.length), 'package.json');
    const { peerDependencies: theirs = {}, peerDependenciesMeta: meta = {} } = JSON.parse(
      readFileSync(manifest, 'utf8'),
    ) as Dependencies;
    for (const [peer, range] of Object.entries(theirs))
      if (meta[peer]?.optional !== true && !(peer in dependencies) && peerDependencies[peer] !== range)
        yield `peerDependencies do not have ${peer} ${range}, a peer of ${own}`;
  }
}

for (const { name } of publicPackages()) {
  const path = join('packages', name, 'package.json');
  const text = readFileSync(path, 'utf8');
  const manifest = JSON.parse(text) as Manifest;
  const written = described(name, manifest);
  const wrong = [...wrongKeywords(manifest), ...missingPeers(manifest)];
  // Compares the order of the keys too, so that a diff of manifests shows only real changes.
  if (JSON.stringify(written) !== JSON.stringify(manifest)) {
    if (process.argv.includes('--update')) writeFileSync(path, `${JSON.stringify(written, undefined, 2)}\n`);
    else wrong.push('links or entries differ from the root manifest and `exports`: pnpm manifests --update');
  }
  for (const what of wrong) console.error(`${path}: ${what}`);
  if (wrong.length > 0) process.exitCode = 1;
}
if (hasPlaceholder())
  console.warn(
    `Not ready to publish: \`repository\` in package.json still names the owner ${PLACEHOLDER}. Write the real one, then run pnpm manifests --update.`,
  );
