// A program that gets a signal while it works, and prints what happens.
import { memory } from '@queuelock/memory';
import { closeOnSignals, createLockClient } from '../src/index.ts';

const [how] = process.argv.slice(2);
const locks = createLockClient(memory());
const others = createLockClient(memory());
closeOnSignals([locks], { drainMs: how === 'stubborn' ? 200 : 20_000 });
closeOnSignals(others);
if (how === 'listener') process.on('SIGTERM', () => setTimeout(() => process.exit(7), 500));

const works = locks.run('x', async (_own, stop) => {
  process.stdout.write('working\n');
  await new Promise<void>((stopped) => {
    // Keeps the process alive.
    const timer = setInterval(() => undefined, 1_000);
    stop.addEventListener('abort', () => {
      process.stdout.write('told\n');
      if (how !== 'stubborn') {
        clearInterval(timer);
        setTimeout(stopped, 50);
      }
    });
  });
  return 'done';
});
works.then(
  (value) => process.stdout.write(`${value}\n`),
  (error: unknown) => process.stdout.write(`${String(error)}\n`),
);
locks.run('x', () => 'late').catch((error: unknown) => process.stdout.write(`${String(error)}\n`));
