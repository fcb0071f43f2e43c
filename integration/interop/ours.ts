// A participant that uses queuelock: ours.ts URL NAME RECIPE ID ROUNDS HOLD_MS [TTL_MS]. protocol.ts
// describes the protocol.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createLockClient } from '@queuelock/core';
import { backendOf, observe, recipeOf, type Held } from './ours-recipes.ts';
import type { InteropEvent } from './protocol.ts';

const [url = '', name = '', recipe = '', id = '', rounds, holdMs, ttlMs] = process.argv.slice(2);
let n = 0;
let ended = false;
let receive: (() => void) | undefined;

// Writes an event to stdout synchronously, unlike console.log, because the event must be written before the
// harness stops the process.
function say(ev: InteropEvent['ev'], fields: Partial<InteropEvent> = {}): void {
  writeSync(1, `${JSON.stringify({ t: process.hrtime.bigint().toString(), id, ev, n, ...fields })}\n`);
}

/** Resolves with the next line of standard input, or at its end. */
async function reported(): Promise<void> {
  if (!ended) await new Promise<void>((resolve) => (receive = resolve));
}

async function observeAll(): Promise<void> {
  const watching = observe(task, (value) => say('leader', { value }));
  say('observing');
  while (!ended) await reported();
  watching.unsubscribe();
}

async function contend(): Promise<void> {
  const enter = recipeOf(task);
  while (!ended && n !== (Number(rounds) || -1)) {
    n += 1;
    await round(enter);
  }
}

async function round(enter: () => Promise<Held | undefined>): Promise<void> {
  say('requesting');
  try {
    const held = await enter();
    if (held) {
      await holdAndLeave(held);
      return;
    }
    say('left');
    await over(new AbortController().signal);
  } catch (error) {
    say('failed', { message: String(error) });
  }
}

async function holdAndLeave(held: Held): Promise<void> {
  const { order, token, key } = held;
  say('acquired', { order: String(order), token: String(token), key });
  await over(held.signal);
  // Reads `held` instead of relying on the hold's `signal`, so that a loss is reported even if the process
  // was frozen in between.
  if (!held.held) {
    say('lost');
    return;
  }
  say('releasing');
  await held.leave();
  say('released');
}

/** Resolves when the time of the hold is over, or earlier if the hold is lost. */
async function over(lost: AbortSignal): Promise<void> {
  const ms = Number(holdMs);
  await new Promise<void>((resolve) => {
    if (lost.aborted) resolve();
    lost.addEventListener('abort', () => resolve(), { once: true });
    if (ms < 0) void reported().then(resolve);
    else setTimeout(resolve, ms);
  });
}

createInterface(process.stdin)
  .on('line', () => receive?.())
  .on('close', () => {
    ended = true;
    receive?.();
  });
const ttl = ttlMs === undefined ? {} : { ttlMs: Number(ttlMs) };
const client = createLockClient(await backendOf(url, recipe), { owner: id, ...ttl });
const task = { client, name, recipe, id };
say('ready');
await reported();
if (recipe === 'observe') await observeAll();
else await contend();
n = 0;
say('done');
await client.close();
process.stdin.destroy();
