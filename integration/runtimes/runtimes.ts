import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A JavaScript runtime, and how it runs a file of ES modules. */
export interface Runtime {
  readonly name: string;
  readonly version: string;
  /** Returns the path of the runtime's executable. The first call downloads it from npm. */
  program(): Promise<string>;
  /** Command-line options of the runtime, which precede the file to run. */
  readonly options: readonly string[];
}

/**
 * Returns a function that resolves with the path of the npm package's executable, which has the name of the
 * package. These packages install a binary of about 100 MB, so they are not dependencies of this repository.
 */
function fromNpm(name: string, version: string): () => Promise<string> {
  return async () => {
    const args = ['exec', '--yes', '--package', `${name}@${version}`, '-c', `command -v ${name}`];
    return (await run('npm', args, { cwd: tmpdir() })).stdout.trim();
  };
}

/** The Node that runs this process. */
export const NODE: Runtime = {
  name: 'Node',
  version: process.versions.node,
  program: () => Promise.resolve(process.execPath),
  options: [],
};

/** The tested runtimes. Node is the first one: if a test fails there, the fault is not the runtime's. */
export const RUNTIMES: readonly Runtime[] = [
  NODE,
  { name: 'Bun', version: '1.4.5', program: fromNpm('bun', '1.4.5'), options: ['run'] },
  { name: 'Deno', version: '2.9.6', program: fromNpm('deno', '2.9.6'), options: ['run', '--allow-all'] },
];
