import { element, text, widthOf } from '@queuelock/harness/timeline/svg';
import { sizeText, type Cell } from './cells.ts';
import type { Result, Results } from './results.ts';
import { medians } from './stats.ts';
import { mainKey, numberText } from './table.ts';

const WIDTH = 980;
const MARGIN = 20;
const NAME_WIDTH = 230;
const VALUE_WIDTH = 70;
const ROW = 20;
const BAR = 13;
const TITLE = 30;
const HEAD = 64;
const COLUMNS = 2;
const COLORS: Readonly<Record<Result['kind'], string>> = {
  ours: '#1f6feb',
  peer: '#8c959f',
  floor: '#d0d7de',
};
const KINDS: Readonly<Record<Result['kind'], string>> = {
  ours: 'queuelock',
  peer: 'others',
  floor: 'floor: the same calls without a lock',
};
const STYLE = `text { font: 12px system-ui, sans-serif; fill: #1f2328 } .title { font-weight: 600 } .head { font: 600 16px system-ui, sans-serif } .quiet { fill: #59636e }`;
const WHAT: Readonly<Partial<Record<string, string>>> = {
  p50: 'p50, µs',
  mean: 'mean, µs',
  perSecond: 'locks per second (more is better)',
  ratio: 'times the answer',
  allKnowMs: 'ms',
  requests: 'requests',
  rssPerWait: 'bytes of RSS per wait',
  ms: 'ms',
};

/**
 * Draws each cell as a panel with bars, two panels side by side. Smaller values are better unless a panel
 * states otherwise.
 */
export function barsSvg(results: Results, cells: readonly Cell[]): string {
  const panels = cells.map((cell) => panelOf(results, cell));
  const columnWidth = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * MARGIN) / COLUMNS;
  const heights: number[] = Array.from({ length: COLUMNS }, () => HEAD);
  const placed = panels.map((panel) => {
    const column = heights.indexOf(Math.min(...heights));
    const y = heights[column] ?? HEAD;
    heights[column] = y + panel.height + MARGIN;
    const x = MARGIN + column * (columnWidth + MARGIN);
    return element('g', { transform: `translate(${x} ${y})` }, panel.draw(columnWidth));
  });
  const height = Math.max(...heights);
  const back = element('rect', { width: WIDTH, height, fill: '#ffffff' });
  const content = [element('style', {}, STYLE), back, head(), ...placed].join('\n');
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    width: WIDTH,
    height,
    viewBox: `0 0 ${WIDTH} ${height}`,
  };
  return `${element('svg', attributes, `\n${content}\n`)}\n`;
}

function head(): string {
  let x = MARGIN;
  const legend = KIND_ORDER.map((kind) => {
    const box = element('rect', { x, y: 38, width: 12, height: 12, fill: COLORS[kind] });
    const label = text(KINDS[kind], { x: x + 18, y: 48, class: 'quiet' });
    x += 18 + widthOf(KINDS[kind]) + 24;
    return box + label;
  });
  return text('Locks side by side; less is better', { x: MARGIN, y: 24, class: 'head' }) + legend.join('');
}

const KIND_ORDER = ['ours', 'peer', 'floor'] as const;

interface Panel {
  readonly height: number;
  readonly draw: (width: number) => string;
}

interface Bar {
  readonly name: string;
  readonly kind: Result['kind'];
  readonly value: number;
}

function panelOf(results: Results, cell: Cell): Panel {
  const key = mainKey(cell.scenario);
  const bars = results
    .matching(cell)
    .filter((result) => result.cell.noise === cell.noise)
    .map(({ client, kind, rounds }): Bar => ({ name: client, kind, value: medians(rounds)[key] ?? NaN }))
    .filter(({ value }) => Number.isFinite(value))
    .toSorted((a, b) => a.value - b.value);
  const title = `${cell.store}, ${cell.medium}: ${cell.scenario}, ${sizeText(cell)} — ${WHAT[key] ?? key}`;
  return {
    height: TITLE + bars.length * ROW,
    draw: (width) => text(title, { x: 0, y: 14, class: 'title' }, width) + barsOf(bars, width),
  };
}

function barsOf(bars: readonly Bar[], width: number): string {
  const room = width - NAME_WIDTH - VALUE_WIDTH;
  const longest = Math.max(...bars.map(({ value }) => value));
  return bars
    .map(({ name, kind, value }, i) => {
      const y = TITLE + i * ROW;
      const length = longest > 0 ? Math.max(1, (value / longest) * room) : 1;
      return [
        text(name, { x: 0, y: y + BAR - 2 }, NAME_WIDTH),
        element('rect', { x: NAME_WIDTH, y, width: length, height: BAR, rx: 2, fill: COLORS[kind] }),
        text(numberText(value), { x: NAME_WIDTH + length + 6, y: y + BAR - 2, class: 'quiet' }),
      ].join('');
    })
    .join('\n');
}
