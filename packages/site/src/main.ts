/** Builds the site into packages/site/dist: node --import tsx/esm packages/site/src/main.ts */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { writeReference } from './reference.ts';
import { repositorySources, ROOT } from './sources.ts';
import { CONTENT, writePages } from './write.ts';

const site = join(ROOT, 'packages/site');
const run = (command: string, ...args: readonly string[]): unknown =>
  execFileSync(join(site, 'node_modules/.bin', command), args, { cwd: site, stdio: 'inherit' });

writePages(repositorySources());
writeReference(CONTENT);
run('vite', 'build', '--config', 'vite.playground.js', '--logLevel', 'warn');
run('vitepress', 'build', '.');
