import type { Scale } from './scale.ts';
import type { Scene } from './scene.ts';
import { element, text, widthOf } from './svg.ts';
import { toneOf } from './style.ts';
import type { Strip } from './marks.ts';

const LINE_PX = 18;
const SAMPLE_PX = 22;
const GAP_PX = 18;

interface Entry {
  readonly name: string;
  sample(x: number, middle: number): string;
}

const SIGNS: readonly Entry[] = [
  {
    name: 'stands in line',
    sample: (x, y) =>
      element('line', { x1: x, x2: x + 16, y1: y, y2: y, stroke: 'var(--ink)', 'stroke-width': 1.5 }),
  },
  {
    name: 'holds (number: fencing token)',
    sample: (x, y) => element('rect', { x, y: y - 5, width: 16, height: 11, rx: 2, fill: 'var(--ink)' }),
  },
  {
    name: 'hold lost: end of the proven time',
    sample: (x, y) => element('path', { d: `M${x + 8} ${y - 7}v14`, class: 'mark' }),
  },
  {
    name: 'holder hears of the loss',
    sample: (x, y) => element('circle', { cx: x + 8, cy: y, r: 3, class: 'mark' }),
  },
  {
    name: 'process killed',
    sample: (x, y) => element('path', { d: `M${x + 3} ${y - 5}l10 10m0 -10l-10 10`, class: 'mark' }),
  },
  {
    name: 'process or event loop stands still',
    sample: (x, y) => element('rect', { x, y: y - 6, width: 16, height: 12, class: 'still' }),
  },
  {
    name: 'fault of a server or the network',
    sample: (x, y) => element('rect', { x, y: y - 6, width: 16, height: 12, class: 'fault' }),
  },
  {
    name: 'gives the wait up, or fails',
    sample: (x, y) => element('path', { d: `M${x + 8} ${y - 5}v10`, class: 'faultedge' }),
  },
  {
    name: 'violation',
    sample: (x, y) => element('line', { x1: x + 8, x2: x + 8, y1: y - 7, y2: y + 7, class: 'wrong' }),
  },
];

/** Draws every colour and sign with its meaning, in as many lines as needed. */
export function legendOf(scene: Scene, scale: Scale): Strip {
  const queues = scene.queues.map(({ name }, i): Entry => {
    return {
      name: `queue ${name}`,
      sample: (x, y) => element('rect', { x, y: y - 5, width: 16, height: 11, rx: 2, fill: toneOf(i) }),
    };
  });
  const more = queues.length - MAX_QUEUES;
  const rest = more > 0 ? [{ name: `and ${more} more, in the same colours again`, sample: () => '' }] : [];
  const placed = wrapped([...queues.slice(0, MAX_QUEUES), ...rest, ...SIGNS], scale);
  const height = ((placed.at(-1)?.line ?? 0) + 1) * LINE_PX;
  const draw = (top: number): string =>
    placed
      .map(({ entry, x, line }) => {
        const middle = top + line * LINE_PX + LINE_PX / 2;
        return entry.sample(x, middle) + text(entry.name, { x: x + SAMPLE_PX, y: middle + 4 });
      })
      .join('');
  return { height, draw };
}

const MAX_QUEUES = 8;

function wrapped(entries: readonly Entry[], { right }: Scale): { entry: Entry; x: number; line: number }[] {
  let [x, line] = [8, 0];
  return entries.map((entry) => {
    const width = SAMPLE_PX + widthOf(entry.name) + GAP_PX;
    if (x + width > right && x > 8) [x, line] = [8, line + 1];
    const placed = { entry, x, line };
    x += width;
    return placed;
  });
}
