/**
 * Measures the time in which this process could run. It leaves out times in which the machine stalled or gave
 * the process no processor. Use it for upper limits on a busy machine, not for lower limits. The measurement
 * begins at the first import of this file.
 */
const TICK_MS = 20;
// A timer that fires later than this, in milliseconds, shows that the process could not run.
const PUNCTUAL_MS = 5;
const ORIGIN_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/**
 * A period in which a timer of 20 ms was late, because the process could not run for `lostMs` of the period.
 * `from` and `to` are values of `performance.now()`.
 */
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
  for (const receive of listeners) receive(loss);
}

setInterval(tick, TICK_MS).unref();

/**
 * Returns for how many milliseconds the process could run since the time `from`, a value of
 * `performance.now()`.
 */
export function livedSince(from: number): number {
  return lived(from, performance.now());
}

/**
 * Returns for how many milliseconds the process could run between two stamps of `process.hrtime`, which all
 * processes of the machine share.
 */
export function livedBetween(from: string | bigint, to: string | bigint): number {
  const [begin, end] = [from, to].map((stamp) => Number(BigInt(stamp)) / 1e6 - ORIGIN_MS) as [number, number];
  return lived(begin, end);
}

/**
 * Calls the listener after each period in which the process could not run. The returned function removes the
 * listener, after a last call if such a period has not ended yet.
 */
export function onLoss(receive: (loss: Loss) => void): () => void {
  tick();
  listeners.add(receive);
  return () => {
    tick();
    listeners.delete(receive);
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

/** Returns the period since the timer last fired, and for how much of it the process could not run. */
function lossUntil(now: number): Loss {
  return { from: ticked, to: now, lostMs: Math.max(0, now - ticked - TICK_MS) };
}

function lostWithin({ from, to, lostMs }: Loss, begin: number, end: number): number {
  const common = Math.min(to, end) - Math.max(from, begin);
  return common > 0 ? (lostMs * common) / (to - from) : 0;
}
