/** Writes a user's program that imports all packed packages, and returns a compiler's messages about it. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { PublicPackage } from './packages.ts';
import { tarballOf, unpack } from './tarballs.ts';

/** The module resolutions of TypeScript under which a user's program is compiled. */
export const RESOLUTIONS = ['node10', 'node16', 'nodenext', 'bundler'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

const MODULES: Readonly<Record<Resolution, string>> = {
  node10: 'es2022',
  node16: 'node16',
  nodenext: 'nodenext',
  bundler: 'es2022',
};

/**
 * Packages that a TypeScript user must also install: type declarations for dependencies that have none, and
 * an optional peer that one entry point needs.
 */
const TYPES = ['@types/node', '@types/pg', '@types/react', '@types/mocha', '@types/chai', '@nestjs/schedule'];

const USES = `
import { createLockClient, type Backend } from '@queuelock/core';
import type { Session } from '@queuelock/core/backend';
import { memory } from '@queuelock/memory';

const locks = createLockClient(memory());
const token: bigint = await locks.run('name', (ownership, stop) => (stop.throwIfAborted(), ownership.token), { timeoutMs: 1_000 });
// @ts-expect-error The token is no number: what was resolved are the types, and not \`any\`.
const wrong: number = token;
const backend: Backend = memory();
export type SessionId = Session['id'];
export { backend, wrong };
`;

/** Installs the packed packages and their dependencies in an empty folder. */
export function installConsumer(folder: string, tarballs: string, packages: readonly PublicPackage[]): void {
  const importable = packages.filter(({ doors }) => doors.length > 0);
  for (const { name, folder: source } of importable) {
    const own = join(folder, 'node_modules', '@queuelock', name);
    mkdirSync(own, { recursive: true });
    unpack(tarballOf(name, tarballs), own);
    for (const dependency of dependenciesOf(join(own, 'package.json')))
      link(dependency, join(source, 'node_modules'), folder);
  }
  for (const types of TYPES)
    for (const source of ['.', ...importable.map((one) => one.folder)])
      link(types, join(source, 'node_modules'), folder);
  const doors = importable.flatMap((one) =>
    one.doors.map(([subpath]) => join('@queuelock', one.name, subpath)),
  );
  const imports = doors.map((door, at) => `import * as door${String(at)} from '${door}';`);
  const all = `export const doors = [${doors.map((_, at) => `door${String(at)}`).join(', ')}];`;
  writeFileSync(join(folder, 'consumer.ts'), [...imports, USES, all, ''].join('\n'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
}

/**
 * Returns the lines that the compiler prints about one file of a user's program. By default, `file` imports
 * all packages of queuelock. The compiler also checks the declarations of these packages.
 */
export function compileConsumer(
  folder: string,
  compiler: readonly string[],
  moduleResolution: Resolution,
  more: Readonly<Record<string, unknown>> = {},
  file = 'consumer.ts',
): readonly string[] {
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
    module: MODULES[moduleResolution],
    moduleResolution,
    types: ['node', 'mocha'],
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    ...more,
  };
  const config = join(folder, `tsconfig.${moduleResolution}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
  const [command = '', ...args] = compiler;
  const ran = spawnSync(command, [...args, '-p', config], { encoding: 'utf8', cwd: folder });
  if (ran.error !== undefined) throw ran.error;
  if (ran.status === 0) return [];
  // A compiler writes its messages to stdout. It writes to stderr only why it could not start.
  return (ran.stdout || ran.stderr).split('\n').filter(Boolean);
}

/**
 * Returns the packages that npm installs with a package. Optional peers are left out: the application chooses
 * these.
 */
function dependenciesOf(manifest: string): readonly string[] {
  const {
    dependencies = {},
    peerDependencies = {},
    peerDependenciesMeta = {},
  } = JSON.parse(readFileSync(manifest, 'utf8')) as Readonly<
    Record<string, Readonly<Record<string, unknown>>>
  >;
  const isOptional = (name: string): boolean =>
    (peerDependenciesMeta[name] as { readonly optional?: boolean } | undefined)?.optional === true;
  return [...Object.keys(dependencies), ...Object.keys(peerDependencies).filter((name) => !isOptional(name))];
}

function link(dependency: string, modules: string, folder: string): void {
  const [target, path] = [join(modules, dependency), join(folder, 'node_modules', dependency)];
  if (dependency.startsWith('@queuelock/') || existsSync(path) || !existsSync(target)) return;
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(resolve(target), path);
}
