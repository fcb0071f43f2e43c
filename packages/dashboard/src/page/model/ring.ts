/** A point of a drawing; the middle is 0, 0. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** An arrow in the drawing of a deadlock, from one node of the ring to the next. */
export interface Arrow {
  readonly from: Point;
  readonly to: Point;
  readonly middle: Point;
}

/**
 * Returns the centres of the nodes in the drawing of a deadlock. The nodes lie on a circle, clockwise from
 * the top.
 */
export function ringOf(places: number, radius: number): readonly Point[] {
  return Array.from({ length: places }, (_one, place) => onRing((place / places) * 2 * Math.PI, radius));
}

/** Half the width and half the height of the space for the text of a node in a drawing. */
export interface Room {
  readonly across: number;
  readonly down: number;
}

/**
 * Returns the arrows in the drawing of a deadlock: from each node to the next one, and from the last node to
 * the first. They leave room for the texts of the nodes.
 */
export function arrowsOf(places: number, radius: number, room: Room): readonly Arrow[] {
  const turn = (2 * Math.PI) / places;
  return Array.from({ length: places }, (_one, place) => ({
    from: onRing(clear(place * turn, 1, { radius, room }), radius),
    to: onRing(clear((place + 1) * turn, -1, { radius, room }), radius),
    middle: onRing((place + 0.5) * turn, radius),
  }));
}

const STEP = Math.PI / 180;

/**
 * Follows the circle of nodes from the node at this angle, clockwise (`1`) or counterclockwise (`-1`).
 * Returns the first angle at which the circle is outside of that node's text.
 */
function clear(
  angle: number,
  direction: 1 | -1,
  { radius, room: { across, down } }: { readonly radius: number; readonly room: Room },
): number {
  const { x, y } = onRing(angle, radius);
  for (let step = 1; step < 90; step += 1) {
    const next = angle + direction * step * STEP;
    const point = onRing(next, radius);
    if (Math.abs(point.x - x) > across || Math.abs(point.y - y) > down) return next;
  }
  return angle;
}

function onRing(angle: number, radius: number): Point {
  return { x: Math.sin(angle) * radius, y: -Math.cos(angle) * radius };
}
