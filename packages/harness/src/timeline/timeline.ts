import { lanesOf } from './lanes.ts';
import { legendOf } from './legend.ts';
import { faultStrip, violationLines, violationStrip } from './marks.ts';
import { Scale } from './scale.ts';
import type { Scene, Span, Violation } from './scene.ts';
import { STYLE } from './style.ts';
import { element, hint, text } from './svg.ts';

export interface TimelineOptions {
  readonly title: string;
  readonly violations?: readonly Violation[];
  /**
   * First and last second to show, counted from the beginning of the run. Default: all of a run of up to 120
   * s; of a longer one the time around the first violation, or else the beginning.
   */
  readonly window?: readonly [fromSeconds: number, toSeconds: number];
  /** Width in pixels. Default 1,280. */
  readonly width?: number;
}

const SECOND = 1e9;
const HEAD_PX = 52;
const GUTTER_PX = 96;
const AXIS_PX = 66;
const PLAIN_AXIS_PX = 20;

/**
 * Draws a scene: a row for each process, bars for holds, lines for waits, shades for faults, red for
 * violations. Returns a self-contained SVG file without scripts, for light and dark pages.
 */
export function timelineOf(scene: Scene, options: TimelineOptions): string {
  const { title, violations = [], width = 1_280 } = options;
  const window = spanOf(scene, options.window ?? windowOf(scene, violations));
  const scale = new Scale(scene, { window, left: GUTTER_PX, right: width - 16 });
  const lanes = lanesOf(scene, scale, new Set(violations.flatMap(({ attempts }) => attempts)));
  const lanesHeight = lanes.reduce((sum, { height }) => sum + height, 0);
  const legend = legendOf(scene, scale);
  const faults = faultStrip(scene, scale);
  const shown = violations.filter(({ at }) => isIn(window, at));
  const list = violationStrip(shown, width);
  const legendTop = HEAD_PX;
  const faultsTop = legendTop + legend.height + 10;
  const top = faultsTop + faults.height + 2;
  const bottom = top + lanesHeight;
  const below = shown.length > 0 ? AXIS_PX : PLAIN_AXIS_PX;
  const height = bottom + below + list.height + 8;
  const place = { scale, top: faultsTop, bottom };
  const content = [
    hint(title),
    element('style', {}, STYLE),
    element('rect', { width, height, class: 'paper' }),
    text(title, { x: 8, y: 24, class: 'title' }),
    text(subtitle(scene, window), { x: 8, y: 42, class: 'faint' }),
    legend.draw(legendTop),
    stripes(lanes, { top, width }),
    faults.drawBands(faultsTop, bottom),
    axis(scale, { top, bottom }),
    drawLanes(lanes, top),
    faults.draw(faultsTop),
    violationLines(shown, place),
    list.draw(bottom + below),
  ];
  const box = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${Math.ceil(height)}`,
    width,
    height,
    role: 'img',
  };
  return `${element('svg', box, content.join('\n'))}\n`;
}

const LONGEST_SECONDS = 120;
const AROUND_SECONDS = 15;

/**
 * Returns the first and the last second to show: all of a run of up to 120 s. Of a longer run it is the time
 * around the first violation, or else the beginning.
 */
export function windowOf(
  scene: Scene,
  violations: readonly Violation[],
): [fromSeconds: number, toSeconds: number] {
  const seconds = (scene.span.to - scene.span.from) / SECOND;
  if (seconds <= LONGEST_SECONDS) return [0, seconds];
  const first = violations[0];
  if (!first) return [0, LONGEST_SECONDS / 2];
  const at = (first.at - scene.span.from) / SECOND;
  return [Math.max(0, at - AROUND_SECONDS), Math.min(seconds, at + AROUND_SECONDS)];
}

function spanOf(scene: Scene, [from, to]: readonly [number, number]): Span {
  if (!(from < to)) throw new RangeError(`window: [${from}, ${to}] has to begin before it ends, in seconds`);
  return { from: scene.span.from + from * SECOND, to: scene.span.from + to * SECOND };
}

function isIn({ from, to }: Span, moment: number): boolean {
  return from <= moment && moment <= to;
}

function subtitle({ span, lives, queues, faults }: Scene, { from, to }: Span): string {
  const seconds = (moment: number): string => ((moment - span.from) / SECOND).toFixed(1);
  const holds = queues.reduce((sum, queue) => sum + queue.holds.length, 0);
  return (
    `${lives.length} processes, ${queues.length} queues, ${holds} holds and ${faults.length} faults in ${seconds(span.to)} s; ` +
    `shown: ${seconds(from)} to ${seconds(to)} s`
  );
}

interface Sized {
  readonly height: number;
}

function topsOf(lanes: readonly Sized[], top: number): number[] {
  let next = top;
  return lanes.map(({ height }) => {
    const own = next;
    next += height;
    return own;
  });
}

function stripes(lanes: readonly Sized[], { top, width }: { top: number; width: number }): string {
  return topsOf(lanes, top)
    .map((y, i) =>
      i % 2 === 0 ? element('rect', { x: 0, y, width, height: lanes[i]?.height ?? 0, class: 'stripe' }) : '',
    )
    .join('');
}

function drawLanes(lanes: ReturnType<typeof lanesOf>, top: number): string {
  const tops = topsOf(lanes, top);
  return lanes.map((lane, i) => lane.draw(tops[i] ?? top)).join('\n');
}

function axis(scale: Scale, { top, bottom }: { top: number; bottom: number }): string {
  const ticks = scale.ticks.map(
    ({ x, name }) =>
      element('line', { x1: x, x2: x, y1: top, y2: bottom, class: 'grid' }) +
      text(`${name} s`, { x, y: bottom + 13, class: 'faint', 'text-anchor': 'middle' }),
  );
  return ticks.join('');
}
