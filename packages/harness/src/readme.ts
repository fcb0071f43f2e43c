import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fromSource } from './services/script.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
// What is here finds every package.
const PLACE = join(ROOT, 'integration', 'node_modules');
const WITHIN_MS = 60_000;
const MOCHA = ['node_modules/mocha/bin/mocha.js', '--no-config', '--timeout', '10000'];

/** The first TypeScript of a page: what a newcomer copies. */
export function firstExample(page: string): string | undefined {
  return /```ts\n(.*?)```/s.exec(readFileSync(join(ROOT, page), 'utf8'))?.[1];
}

/** Runs an example to its end, and answers what it printed; a suite of tests is run by mocha. Rejects when it fails or complains. */
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
