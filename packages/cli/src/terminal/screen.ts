import type { WriteStream } from 'node:tty';
import { createLogUpdate } from 'log-update';
import { paperOf, type Paper } from './terminal.ts';

const EVERY_MS = 100;

/** A frame that is redrawn in place. */
export interface Screen {
  /** Draws now, for instance after a key. The frame is also drawn ten times a second. */
  redraw(): void;
  /** Stops drawing. The last frame stays visible. */
  close(): void;
}

/**
 * Calls `draw` repeatedly and shows the frame in place, until `close` is called. `over` is true for the last
 * frame.
 */
export function openScreen(terminal: WriteStream, draw: (paper: Paper, over: boolean) => string): Screen {
  const update = createLogUpdate(terminal);
  let shown = '';
  const show = (over = false): void => {
    shown = draw(paperOf(terminal), over);
    update(shown);
  };
  const resize = (): void => {
    eraseWrapped(terminal, shown);
    update.done();
    show();
  };
  const timer = setInterval(() => {
    show();
  }, EVERY_MS);
  terminal.on('resize', resize);
  show();
  return {
    redraw: () => {
      show();
    },
    close() {
      clearInterval(timer);
      terminal.off('resize', resize);
      show(true);
      update.done();
    },
  };
}

/**
 * Erases the previous frame. A terminal that became narrower has wrapped the frame, so it takes more lines
 * than were written.
 */
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
