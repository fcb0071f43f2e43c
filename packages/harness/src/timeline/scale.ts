import type { Scene, Span } from './scene.ts';

const SECOND = 1e9;

/** Converts times to horizontal positions. */
export class Scale {
  readonly window: Span;
  readonly left: number;
  readonly right: number;
  readonly #begin: number;

  constructor(scene: Scene, { window, left, right }: { window: Span; left: number; right: number }) {
    this.window = window;
    this.left = left;
    this.right = right;
    this.#begin = scene.span.from;
  }

  /**
   * Returns the horizontal position of a time. A time outside of the shown period gets the position of the
   * nearer edge of the drawing.
   */
  x(moment: number): number {
    const { from, to } = this.window;
    const share = Math.min(1, Math.max(0, (moment - from) / (to - from)));
    return this.left + share * (this.right - this.left);
  }

  shows({ from, to }: Span): boolean {
    return to >= this.window.from && from <= this.window.to;
  }

  /** Returns about ten marks of the time axis at round seconds, with their labels. */
  get ticks(): { readonly x: number; readonly name: string }[] {
    const { from, to } = this.window;
    const step = roundStep((to - from) / SECOND / 10);
    const digits = Math.max(0, -Math.floor(Math.log10(step)));
    const first = Math.ceil((from - this.#begin) / SECOND / step);
    const last = Math.floor((to - this.#begin) / SECOND / step);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => ({
      x: this.x(this.#begin + (first + i) * step * SECOND),
      name: ((first + i) * step).toFixed(digits),
    }));
  }
}

/**
 * Returns the number of seconds between two marks of the time axis: the smallest of 1, 2, 5, 10, … that is at
 * least `seconds`.
 */
function roundStep(seconds: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(seconds));
  return ([1, 2, 5].find((digit) => digit * magnitude >= seconds) ?? 10) * magnitude;
}

/**
 * Assigns items to as few rows as possible, so that the items of a row do not overlap. `items` must be sorted
 * by their beginning.
 */
export function rowsOf<T>(
  items: readonly T[],
  extent: (item: T) => Span,
): { rows: number; rowOf: Map<T, number> } {
  const ends: number[] = [];
  const rowOf = new Map<T, number>();
  for (const item of items) {
    const { from, to } = extent(item);
    const free = ends.findIndex((end) => end <= from);
    const row = free === -1 ? ends.length : free;
    ends[row] = to;
    rowOf.set(item, row);
  }
  return { rows: ends.length, rowOf };
}
