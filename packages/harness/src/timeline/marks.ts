import { rowsOf, type Scale } from './scale.ts';
import type { Fault, Scene, Span, Violation } from './scene.ts';
import { element, hint, text, widthOf } from './svg.ts';

const LINE_PX = 16;
const MAX_NAMED = 12;
const MAX_ROWS = 3;
/** Height, in pixels, of the labels of the time axis, which show seconds. */
const AXIS_PX = 17;

export interface Strip {
  readonly height: number;
  draw(top: number): string;
}

/** Draws faults of servers and network as bands through the rows of all processes, behind everything else. */
export interface FaultStrip extends Strip {
  drawBands(top: number, bottom: number): string;
}

/** Draws the names of all faults above the rows of the processes, each at its beginning. */
export function faultStrip(scene: Scene, scale: Scale): FaultStrip {
  const lives = new Set(scene.lives.map(({ who }) => who));
  const labels = scene.faults
    .filter((fault) => scale.shows(fault))
    .map((fault) => labelOf(fault, scale))
    .sort((a, b) => a.from - b.from);
  const { rows, rowOf } = rowsOf(labels, (label) => label);
  const yOf = (label: Label): number => (rowOf.get(label) ?? 0) * LINE_PX;
  const draw = (top: number): string =>
    labels
      .map((label) => text(label.name, { x: label.from + 3, y: top + yOf(label) + 11, class: 'faultname' }))
      .join('');
  const drawBands = (top: number, bottom: number): string =>
    labels
      .filter(({ fault }) => !lives.has(fault.target))
      .map((label) => band(label, scale, { top: top + yOf(label), bottom }))
      .join('');
  return { height: rows * LINE_PX, draw, drawBands };
}

interface Label extends Span {
  readonly fault: Fault;
  readonly name: string;
}

function labelOf(fault: Fault, scale: Scale): Label {
  const name = `${fault.number} ${fault.what} (${fault.target})`;
  const width = widthOf(name) * 1.1 + 6;
  const from = Math.max(scale.left, Math.min(scale.x(fault.from), scale.right - width));
  return { fault, name, from, to: from + width };
}

function band(
  { fault, name }: Label,
  scale: Scale,
  { top, bottom }: { top: number; bottom: number },
): string {
  const [x, right] = [scale.x(fault.from), scale.x(fault.to)];
  const edge = element('line', { x1: x, x2: x, y1: top, y2: bottom, class: 'faultedge' });
  const area = { x, y: top, width: Math.max(1.5, right - x), height: bottom - top, class: 'fault' };
  return element('rect', area, hint(name)) + edge;
}

/** Draws a red line at each violation, with its number in the list below. */
export function violationLines(
  violations: readonly Violation[],
  place: { readonly scale: Scale; readonly top: number; readonly bottom: number },
): string {
  const { scale, top, bottom } = place;
  const namesAt = new Map<number, string[]>();
  for (const [i, { rule, at }] of violations.slice(0, MAX_NAMED).entries()) {
    const x = Math.round(scale.x(at));
    namesAt.set(x, [...(namesAt.get(x) ?? []), `${rule} [${i + 1}]`]);
  }
  const labels = [...namesAt].map(([x, names]) => ({ x, name: names.join(', ') })).sort((a, b) => a.x - b.x);
  const half = ({ name }: { name: string }): number => (widthOf(name) * 1.1) / 2 + 4;
  const { rowOf } = rowsOf(labels, (label) => ({ from: label.x - half(label), to: label.x + half(label) }));
  return labels
    .map((label) => {
      const { x, name } = label;
      const y = bottom + AXIS_PX + 12 + Math.min(MAX_ROWS - 1, rowOf.get(label) ?? 0) * 13;
      const centre = Math.min(scale.right - half(label), Math.max(half(label), x));
      const line = element('line', { x1: x, x2: x, y1: top, y2: bottom, class: 'wrong' });
      return line + text(name, { x: centre, y, class: 'wrongname', 'text-anchor': 'middle' });
    })
    .join('');
}

/** Lists the violations below the picture. */
export function violationStrip(violations: readonly Violation[], width: number): Strip {
  const lines = violations
    .slice(0, MAX_NAMED)
    .map(({ rule, message }, i) => `[${i + 1}] ${rule}: ${message}`);
  if (violations.length > MAX_NAMED) lines.push(`and ${violations.length - MAX_NAMED} more`);
  const draw = (top: number): string =>
    lines
      .map((line, i) => text(line, { x: 8, y: top + 12 + i * LINE_PX, class: 'wrongname' }, width - 16))
      .join('');
  return { height: lines.length * LINE_PX, draw };
}
