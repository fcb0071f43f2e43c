import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build, type BuildOptions } from 'esbuild';
import { ROOT } from '../pages/scratch.ts';
import { NODE, type Runtime } from '../runtimes/runtimes.ts';

const run = promisify(execFile);

/** The last line of a program's output, parsed from JSON. */
export type Printed = Readonly<Record<string, unknown>>;

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, unknown>>;
}

/**
 * A directory outside of the repository with queuelock's packages, packed as they are published. It also has
 * what npm installs with them: their dependencies and peers, but no optional peers.
 */
export class Installation {
  readonly directory: string;
  #programs = 0;

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async of(names: readonly string[]): Promise<Installation> {
    const installation = new Installation(await mkdtemp(join(tmpdir(), 'queuelock-packed-')));
    await writeFile(join(installation.directory, 'package.json'), '{ "type": "module" }');
    for (const name of names) await installation.#installOwn(name);
    return installation;
  }

  remove(): Promise<void> {
    return rm(this.directory, { recursive: true });
  }

  /** Compiles a program and checks all declarations that it imports. Returns the messages of the compiler. */
  async check(source: string): Promise<string> {
    await link(this.directory, '@types/node', ROOT);
    const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--module', 'nodenext'];
    const target = ['--target', 'es2022', '--lib', 'es2023,esnext.disposable', '--types', 'node'];
    const compiler = join(ROOT, 'node_modules/.bin/tsc');
    return run(compiler, [...options, ...target, source], { cwd: this.directory }).then(
      () => '',
      (error: unknown) => String(Reflect.get(Object(error), 'stdout')),
    );
  }

  /** Writes a program into the directory in which the packages are installed. */
  async write(name: string, code: string): Promise<string> {
    const file = join(this.directory, name);
    await writeFile(file, code);
    return file;
  }

  /** Bundles a program and all its imports into one file, in another directory that has no packages. */
  async bundle(code: string, options: Pick<BuildOptions, 'format' | 'external'>): Promise<string> {
    this.#programs += 1;
    const source = await this.write(`program-${this.#programs}.mjs`, code);
    const directory = await mkdtemp(join(tmpdir(), 'queuelock-bundled-'));
    const outfile = join(directory, options.format === 'cjs' ? 'program.cjs' : 'program.mjs');
    await build({
      entryPoints: [source],
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      logLevel: 'error',
      ...options,
    });
    return outfile;
  }

  async #installOwn(name: string): Promise<void> {
    const source = join(ROOT, 'packages', name);
    const packed = await run('npm', ['pack', '--json', '--pack-destination', this.directory], {
      cwd: source,
    });
    const [{ filename }] = JSON.parse(packed.stdout) as [{ readonly filename: string }];
    const there = join(this.directory, 'node_modules', '@queuelock', name);
    await mkdir(there, { recursive: true });
    await run('tar', ['-xzf', join(this.directory, filename), '--strip-components=1', '-C', there]);
    const manifest = JSON.parse(await readFile(join(there, 'package.json'), 'utf8')) as Manifest;
    const { dependencies, peerDependencies, peerDependenciesMeta = {} } = manifest;
    for (const other of Object.keys({ ...dependencies, ...peerDependencies }))
      if (!other.startsWith('@queuelock/') && !(other in peerDependenciesMeta))
        await link(this.directory, other, source);
  }
}

/** Installs a third-party package in a directory, as a link to the copy in the workspace. */
export async function link(directory: string, name: string, from: string): Promise<void> {
  const there = join(directory, 'node_modules', name);
  if (existsSync(there)) return;
  await mkdir(dirname(there), { recursive: true });
  await symlink(await realpath(join(from, 'node_modules', name)), there);
}

/**
 * Runs a program in a separate process, without the environment and the command-line options of this process.
 * Returns the last line of its output, parsed as JSON.
 */
export async function outputOf(
  file: string,
  env: NodeJS.ProcessEnv = {},
  runtime: Runtime = NODE,
): Promise<Printed> {
  const { stdout } = await run(await runtime.program(), [...runtime.options, file], {
    cwd: dirname(file),
    env: { PATH: process.env['PATH'], ...env },
    timeout: 60_000,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Printed;
}
