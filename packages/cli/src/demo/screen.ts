import type { WriteStream } from 'node:tty';
import { createLogUpdate } from 'log-update';
import { drawFrame, type View } from './frame.ts';

const EVERY_MS = 100;

/** Draws the view in place, ten times a second, until it is closed; the last picture stays. */
export function openScreen(terminal: WriteStream, viewNow: () => Omit<View, 'over'>): { close(): void } {
  const update = createLogUpdate(terminal);
  let shown = '';
  const draw = (over = false): void => {
    shown = drawFrame(
      { ...viewNow(), over },
      {
        columns: terminal.columns,
        rows: terminal.rows,
        colours: terminal.hasColors(),
        blocks: process.env['TERM'] !== 'linux',
      },
    );
    update(shown);
  };
  const redraw = (): void => {
    eraseWrapped(terminal, shown);
    update.done();
    draw();
  };
  const timer = setInterval(() => {
    draw();
  }, EVERY_MS);
  terminal.on('resize', redraw);
  draw();
  return {
    close() {
      clearInterval(timer);
      terminal.off('resize', redraw);
      draw(true);
      update.done();
    },
  };
}

/** A terminal that became narrower has wrapped the old picture: it has more lines than were written. */
function eraseWrapped(terminal: WriteStream, shown: string): void {
  const rows = shown.split('\n').map((line) => Math.max(1, Math.ceil(widthOf(line) / terminal.columns)));
  const height = rows.reduce((sum, count) => sum + count, 0);
  terminal.moveCursor(0, -Math.min(height, terminal.rows - 1));
  terminal.cursorTo(0);
  terminal.clearScreenDown();
}

function widthOf(line: string): number {
  return Array.from(line.replace(/\u001B\[[\d;]*m/g, '')).length;
}
