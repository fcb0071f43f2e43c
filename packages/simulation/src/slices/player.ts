import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const PROGRAM = fileURLToPath(new URL('slice-process.ts', import.meta.url));
/**
 * Node's options for a process that plays runs. A run makes garbage quickly and keeps little of it, so a large
 * space for new objects saves much copying. Since there is a process for each processor, more threads for the
 * garbage collection would only compete with other processes.
 */
const NODE_OPTIONS = ['--max-semi-space-size=64', '--single-threaded-gc'];
// Some bundled dependencies are CommonJS modules, which call `require`.
const REQUIRE = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);`;

/**
 * Bundles the program that plays runs. The loader of the sources keeps the names of functions, at the cost of
 * a call of `Object.defineProperty` for each closure. The bundle does not, and is a fifth faster.
 */
export async function bundlePlayer(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [PROGRAM],
    ...{ bundle: true, write: false, minifySyntax: true },
    ...{ platform: 'node', format: 'esm', target: 'node20' },
    conditions: ['@queuelock/source'],
    banner: { js: REQUIRE },
  });
  return outputFiles[0]?.text ?? '';
}

/** Starts a process that plays slices of seeds. It reads its code from its standard input. */
export function startPlayer(code: string, store: string): ChildProcess {
  const child = spawn(process.execPath, [...NODE_OPTIONS, '--input-type=module', '-', store], {
    stdio: ['pipe', 'inherit', 'inherit', 'ipc'],
  });
  child.stdin?.end(code);
  return child;
}
