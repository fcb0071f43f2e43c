// Client program for the scenario `start`: start.mjs KIND start …. Measures the time from the start of a
// process to its first lock.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const TIMES = 5;
const script = fileURLToPath(new URL('first-lock.mjs', import.meta.url));

async function started(kind) {
  const begunAt = process.hrtime.bigint();
  const child = spawn(process.execPath, [script, kind], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  const ms = Number(process.hrtime.bigint() - begunAt) / 1e6;
  const [code] = await ended;
  if (code !== 0) process.exit(1);
  return ms;
}

const kind = process.argv[2];
// The first start is not counted, because it reads the files from the disk.
await started(kind);
const times = [];
for (let i = 0; i < TIMES; i += 1) times.push(await started(kind));
process.stdout.write(`${JSON.stringify({ ms: times.sort((a, b) => a - b)[TIMES >> 1] })}\n`);
