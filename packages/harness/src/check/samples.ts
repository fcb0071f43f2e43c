/** Measured times in milliseconds, in any order. */
export type Samples = readonly number[];

export interface Spread {
  readonly count: number;
  readonly min: number;
  readonly p1: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Returns the quantiles of the samples by nearest rank, or `undefined` without samples. */
export function spreadOf(samples: Samples): Spread | undefined {
  if (samples.length === 0) return undefined;
  const sorted = Float64Array.from(samples).sort();
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
  return { count: sorted.length, min: at(0), p1: at(0.01), p50: at(0.5), p99: at(0.99), max: at(1) };
}

/**
 * Returns the slope of the line that fits the points (x, y) by least squares, for instance in bytes per
 * attempt.
 */
export function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number | undefined {
  const meanX = mean(points.map(({ x }) => x));
  const meanY = mean(points.map(({ y }) => y));
  const spread = sum(points.map(({ x }) => (x - meanX) ** 2));
  return spread > 0 ? sum(points.map(({ x, y }) => (x - meanX) * (y - meanY))) / spread : undefined;
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
