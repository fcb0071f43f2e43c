// A program that receives a signal while its work runs, and prints what happens.
import { memory } from '@queuelock/memory';
import { closeOnSignals, createLockClient } from '../src/index.ts';

const [how] = process.argv.slice(2);
const locks = createLockClient(memory());
const others = createLockClient(memory());
const say = (text: string): void => void process.stdout.write(`${text}\n`);
closeOnSignals([locks], {
  drainMs: how === 'stubborn' ? 200 : 20_000,
  beforeExit: async (signal) => {
    if (how === 'hooked') {
      await new Promise((resolve) => setTimeout(resolve, 20));
      say(`closed the server after ${signal}`);
    }
    if (how === 'failing') throw new Error('the server is not closed');
    if (how === 'hanging') await new Promise(() => undefined);
  },
  ...(how === 'hanging' && { beforeExitMs: 50 }),
});
closeOnSignals(others);
if (how === 'listener') process.on('SIGTERM', () => setTimeout(() => process.exit(7), 500));
// Raises the signal again after the shutdown of the framework, as NestJS does.
if (how === 'framework' || how === 'slow-framework')
  process.on('SIGTERM', function shutdown() {
    setTimeout(
      () => {
        process.off('SIGTERM', shutdown);
        say('raised again');
        process.kill(process.pid, 'SIGTERM');
      },
      how === 'framework' ? 1 : 600,
    );
  });
const WORK_ENDS_AFTER_MS = { framework: 100, 'slow-framework': 800, endless: 60_000 }[how ?? ''] ?? 50;

const works = locks.run('x', async (_own, stop) => {
  process.stdout.write('working\n');
  await new Promise<void>((stopped) => {
    // This timer keeps the process alive.
    const timer = setInterval(() => undefined, 1_000);
    stop.addEventListener('abort', () => {
      process.stdout.write('told\n');
      if (how !== 'stubborn') {
        clearInterval(timer);
        setTimeout(stopped, WORK_ENDS_AFTER_MS);
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
