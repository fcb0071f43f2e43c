/**
 * Draws boxes and arrows as SVG in rows, called floors. Arrows lead down. An arrow is left out if a longer
 * path of arrows implies it.
 */

export interface Box {
  readonly name: string;
  /** Text in small letters below the name in the box. */
  readonly text: string;
}

export interface Arrow {
  readonly from: string;
  readonly to: string;
}

/** One part of a drawing: a title, and below it boxes and the arrows between them. */
export interface Part {
  readonly title: string;
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
}

/** A box, or a point where an arrow crosses a floor (a row of boxes). */
interface Spot {
  readonly box: Box | undefined;
  readonly floor: number;
  readonly width: number;
  /**
   * Height of the box or point in pixels. An arrow crosses a floor (a row of boxes) over its whole height, so
   * a point of an arrow gets the height of its floor.
   */
  height: number;
  /** Horizontal position of the middle of the box or point, in pixels. */
  x: number;
  y: number;
}

/** The boxes and points that an arrow passes, from its first box to its last one. */
type Way = readonly Spot[];

// Sizes of letters, lines, boxes and gaps in the drawing, in pixels.
const LETTER = { name: 8.2, text: 6.8 };
const LINE = 15;
const NAME = 20;
const PADDING = 9;
const GAP = { x: 16, y: 30 };
const PASSAGE = 8;
const MARGIN = 24;
const TITLE = 44;
/** Longest line of the text in a box, in characters. */
const LONGEST_LINE = 36;
const SWEEPS = 30;

const STYLE = `<style>
  text { font-family: Helvetica, Arial, sans-serif; fill: #1b2733; text-anchor: middle; }
  .title { font-size: 17px; font-weight: bold; text-anchor: start; }
  .name { font-size: 14px; font-weight: bold; }
  .text { font-size: 12px; fill: #4a5a6a; }
  .box { fill: #eef4fa; stroke: #6b8fb3; }
  .way { fill: none; stroke: #8a97a5; stroke-width: 1.3; marker-end: url(#head); }
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#8a97a5"/></marker></defs>`;

/** Returns the SVG of a drawing's parts, one below another. */
export function drawing(parts: readonly Part[]): string {
  const body: string[] = [];
  let [width, height] = [0, MARGIN];
  for (const part of parts) {
    const ways = waysOf(part);
    const floors = floorsOf(part, ways);
    body.push(`<text class="title" x="${String(MARGIN)}" y="${String(height + 14)}">${part.title}</text>`);
    height = stack(floors, height + TITLE) + MARGIN;
    const spots = floors.flat();
    const left = Math.min(...spots.map(({ x, width: its }) => x - its / 2));
    for (const spot of spots) spot.x += MARGIN - left;
    width = Math.max(width, ...spots.map(({ x, width: its }) => x + its / 2 + MARGIN));
    body.push(...ways.map(pathOf), ...spots.map(rectOf));
  }
  const size = `width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size}>`;
  const ground = '<rect width="100%" height="100%" fill="#ffffff"/>';
  return [head, STYLE, ground, ...body.filter((line) => line !== ''), '</svg>', ''].join('\n');
}

/**
 * Returns the arrows to draw, without the arrows that a path of several arrows implies. Each arrow is a list
 * of the boxes and points that it passes, one for each floor (row of boxes).
 */
function waysOf({ boxes, arrows }: Part): readonly Way[] {
  const next = new Map(boxes.map(({ name }) => [name, new Set<string>()]));
  for (const { from, to } of arrows) next.get(from)?.add(to);
  const after = (name: string): readonly string[] => [...(next.get(name) ?? [])];
  const below = new Map<string, ReadonlySet<string>>();
  const allBelow = (name: string): ReadonlySet<string> => {
    const known = below.get(name) ?? new Set(after(name).flatMap((to) => [to, ...allBelow(to)]));
    below.set(name, known);
    return known;
  };
  const floorOf = (name: string): number => Math.max(0, ...after(name).map((to) => 1 + floorOf(to)));
  const spots = new Map(boxes.map((box) => [box.name, spotOf(box, floorOf(box.name))]));
  return [...spots].flatMap(([from, spot]): Way[] => {
    const direct = after(from).filter((to) => !after(from).some((other) => allBelow(other).has(to)));
    if (direct.length === 0) return [[spot]];
    return direct.flatMap((to) => {
      const goal = spots.get(to);
      return goal ? [[spot, ...passages(spot.floor, goal.floor), goal]] : [];
    });
  });
}

function spotOf(box: Box, floor: number): Spot {
  const lines = linesOf(box.text);
  const letters = Math.max(box.name.length * LETTER.name, ...lines.map(({ length }) => length * LETTER.text));
  return {
    box,
    floor,
    width: letters + 2 * PADDING,
    height: NAME + lines.length * LINE + PADDING,
    x: 0,
    y: 0,
  };
}

function passages(from: number, to: number): readonly Spot[] {
  const floors = Array.from({ length: from - to - 1 }, (_, at) => from - 1 - at);
  return floors.map((floor) => ({ box: undefined, floor, width: PASSAGE, height: 0, x: 0, y: 0 }));
}

function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((some) => some !== '')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= LONGEST_LINE) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/**
 * Returns the boxes and points of each floor from left to right, the highest floor first. Each box or point
 * is as near as possible to the ones with which arrows connect it.
 */
function floorsOf({ boxes }: Part, ways: readonly Way[]): readonly Spot[][] {
  const spots = [...new Set(ways.flat())];
  const top = Math.max(0, ...spots.map(({ floor }) => floor));
  const floors = Array.from({ length: top + 1 }, (_, at) => spots.filter(({ floor }) => floor === top - at));
  const bound = new Map(spots.map((spot): [Spot, Spot[]] => [spot, []]));
  for (const way of ways)
    for (const [at, spot] of way.entries()) {
      const other = way[at + 1];
      if (!other) continue;
      bound.get(spot)?.push(other);
      bound.get(other)?.push(spot);
    }
  for (const floor of floors) line(floor, () => boxes.length);
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    for (const floor of sweep % 2 === 0 ? floors : floors.toReversed())
      line(floor, (spot) => mean((bound.get(spot) ?? []).map(({ x }) => x)) ?? spot.x);
  return floors;
}

/**
 * Puts the boxes and points of a floor (a row) side by side, in the order of their preferred `x`. Each one is
 * as near to its `x` as possible.
 */
function line(floor: Spot[], newEntryOf: (spot: Spot) => number): void {
  const preferences = new Map(floor.map((spot) => [spot, newEntryOf(spot)]));
  const preference = (spot: Spot): number => preferences.get(spot) ?? 0;
  floor.sort((a, b) => preference(a) - preference(b));
  let free = -Infinity;
  for (const spot of floor) {
    spot.x = Math.max(preference(spot), free + spot.width / 2);
    free = spot.x + spot.width / 2 + GAP.x;
  }
  const tooFar = mean(floor.map((spot) => spot.x - preference(spot))) ?? 0;
  for (const spot of floor) spot.x -= tooFar;
}

function mean(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

/**
 * Sets `y` of all boxes and points, floor by floor, starting at `top`.
 * @returns the bottom of the lowest floor, in pixels
 */
function stack(floors: readonly (readonly Spot[])[], top: number): number {
  let y = top;
  for (const floor of floors) {
    const height = Math.max(...floor.map((spot) => spot.height));
    for (const spot of floor) {
      spot.y = y + height / 2;
      if (!spot.box) spot.height = height;
    }
    y += height + GAP.y;
  }
  return y - GAP.y;
}

function rectOf({ box, x, y, width, height }: Spot): string {
  if (!box) return '';
  const [left, top] = [x - width / 2, y - height / 2];
  const text = (kind: string, output: string, below: number): string =>
    `<text class="${kind}" x="${round(x)}" y="${round(top + below)}">${output}</text>`;
  return [
    `<rect class="box" rx="5" x="${round(left)}" y="${round(top)}" width="${round(width)}" height="${round(height)}"/>`,
    text('name', box.name, NAME - 2),
    ...linesOf(box.text).map((output, at) => text('text', output, NAME + 12 + at * LINE)),
  ].join('');
}

function pathOf(way: Way): string {
  const [first, ...others] = way;
  if (!first || others.length === 0) return '';
  let [x, y] = [first.x, first.y + first.height / 2];
  let path = `M${round(x)} ${round(y)}`;
  for (const spot of others) {
    const above = spot.y - spot.height / 2;
    const middle = (y + above) / 2;
    path += `C${[x, middle, spot.x, middle, spot.x, above].map(round).join(' ')}`;
    [x, y] = [spot.x, spot.y + spot.height / 2];
    if (!spot.box) path += `V${round(y)}`;
  }
  return `<path class="way" d="${path}"/>`;
}

function round(pixels: number): string {
  return String(Math.round(pixels));
}
