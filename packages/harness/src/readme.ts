import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fromSource } from './services/script.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
// Directory for the scripts of README examples. A script in this directory can import every package.
const PLACE = join(ROOT, 'integration', 'node_modules');
const WITHIN_MS = 60_000;
const MOCHA = ['node_modules/mocha/bin/mocha.js', '--no-config', '--timeout', '10000'];

/** Returns the first TypeScript example of a page, which a new user copies. */
export function firstExample(page: string): string | undefined {
  return /```ts\n(.*?)```/s.exec(readFileSync(join(ROOT, page), 'utf8'))?.[1];
}

/**
 * Runs an example to its end and resolves with its output. If the example is a suite of tests, mocha runs it.
 * Rejects when it fails or prints to stderr.
 */
export async function runExample(page: string, example: string): Promise<string> {
  const scratch = mkdtempSync(join(PLACE, '.readme-'));
  const file = join(scratch, `${basename(dirname(page))}.test.mts`);
  writeFileSync(file, example);
  try {
    const runner = example.includes('describeBackend') ? MOCHA : [];
    const command = [...fromSource(file).execArgv, ...runner, file];
    const { stdout, stderr } = await run(process.execPath, command, { cwd: ROOT, timeout: WITHIN_MS });
    if (stderr !== '') throw new Error(`${page} complains: ${stderr}`);
    return stdout;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
