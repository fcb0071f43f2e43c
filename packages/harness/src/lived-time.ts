/**
 * Time in which this process could run. Time in which the machine stalled or gave the process no processor does not count. Use it for upper limits on
 * a busy machine, not for lower limits. Counts from the first import on.
 */
const TICK_MS = 20;
// Tolerated delay of a timer in milliseconds.
const PUNCTUAL_MS = 5;
const ORIGIN_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** A period without running code, from one tick to the next one, which was late; by `performance.now()`. */
export interface Loss {
  readonly from: number;
  readonly to: number;
  readonly lostMs: number;
}

const losses: Loss[] = [];
const listeners = new Set<(loss: Loss) => void>();
let ticked = performance.now();

function tick(): void {
  const loss = lossUntil(performance.now());
  ticked = loss.to;
  if (loss.lostMs <= PUNCTUAL_MS) return;
  losses.push(loss);
  for (const hear of listeners) hear(loss);
}

setInterval(tick, TICK_MS).unref();

/** Returns the milliseconds since this moment of `performance.now()`. */
export function livedSince(from: number): number {
  return lived(from, performance.now());
}

/** Returns the milliseconds between two stamps of `process.hrtime`, the clock of all processes of the machine. */
export function livedBetween(from: string | bigint, to: string | bigint): number {
  const [begin, end] = [from, to].map((stamp) => Number(BigInt(stamp)) / 1e6 - ORIGIN_MS) as [number, number];
  return lived(begin, end);
}

/** Reports every loss from now on, at the tick that ends it or when the returned function stops the reports. */
export function onLoss(hear: (loss: Loss) => void): () => void {
  tick();
  listeners.add(hear);
  return () => {
    tick();
    listeners.delete(hear);
  };
}

/** Converts a moment of `performance.now()` to a stamp of `process.hrtime`. */
export function stampOf(moment: number): string {
  const agoMs = performance.now() - moment;
  return String(process.hrtime.bigint() - BigInt(Math.round(agoMs * 1e6)));
}

function lived(from: number, to: number): number {
  const recent = losses.slice(losses.findLastIndex((loss) => loss.to <= from) + 1);
  const all = [...recent, lossUntil(performance.now())];
  return to - from - all.reduce((sum, loss) => sum + lostWithin(loss, from, to), 0);
}

/** Returns the loss since the last tick. */
function lossUntil(now: number): Loss {
  return { from: ticked, to: now, lostMs: Math.max(0, now - ticked - TICK_MS) };
}

function lostWithin({ from, to, lostMs }: Loss, begin: number, end: number): number {
  const common = Math.min(to, end) - Math.max(from, begin);
  return common > 0 ? (lostMs * common) / (to - from) : 0;
}
