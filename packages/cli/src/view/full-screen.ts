import { emitKeypressEvents } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { paint, type Span } from '../terminal/paint.ts';
import { paperOf, type Paper } from '../terminal/terminal.ts';
import type { Key } from './top-state.ts';

/** A view that uses the whole terminal and restores it afterwards. */
export interface FullScreen {
  /** Schedules a redraw. Several calls in a row cause only one. */
  redraw(): void;
  close(): void;
}

export interface FullScreenSettings {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly lines: (paper: Paper) => readonly (readonly Span[])[];
  readonly onKey: (key: Key, paper: Paper) => void;
}

const ENTER = '\u001B[?1049h\u001B[?25l';
const LEAVE = '\u001B[?25h\u001B[?1049l';
const HOME = '\u001B[H';
const CLEAR = '\u001B[2J';
const END_OF_LINE = '\u001B[K';
const SOON_MS = 30;

/**
 * Takes over the terminal: alternate screen, no cursor, and each key is received without Enter. The terminal is restored even if the process ends
 * without `close`.
 */
export function openFullScreen({ input, output, lines, onKey }: FullScreenSettings): FullScreen {
  const canvas = new Canvas(output, lines);
  const redraw = (): void => {
    canvas.redraw();
  };
  const resized = (): void => {
    canvas.clear();
  };
  const typed = (text: string | undefined, { name, ctrl }: { name?: string; ctrl?: boolean }): void => {
    onKey({ text, name, ctrl }, paperOf(output));
    redraw();
  };
  const giveBack = (): void => {
    if (input.isTTY) input.setRawMode(false);
    canvas.close();
  };
  emitKeypressEvents(input);
  if (input.isTTY) input.setRawMode(true);
  input.on('keypress', typed);
  input.resume();
  output.on('resize', resized);
  process.once('exit', giveBack);
  return {
    redraw,
    close() {
      giveBack();
      process.off('exit', giveBack);
      input.off('keypress', typed);
      output.off('resize', resized);
      input.pause();
    },
  };
}

class Canvas {
  readonly #output: WriteStream;
  readonly #lines: FullScreenSettings['lines'];
  #timer: NodeJS.Timeout | undefined;
  #shown = '';
  #isOpen = true;

  constructor(output: WriteStream, lines: FullScreenSettings['lines']) {
    this.#output = output;
    this.#lines = lines;
    output.write(ENTER + CLEAR);
    this.#draw();
  }

  redraw(): void {
    if (!this.#isOpen) return;
    this.#timer ??= setTimeout(() => {
      this.#draw();
    }, SOON_MS);
  }

  /** Clears the screen and draws everything again. */
  clear(): void {
    this.#shown = '';
    if (this.#isOpen) this.#output.write(CLEAR);
    this.redraw();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#output.write(LEAVE);
  }

  #draw(): void {
    this.#timer = undefined;
    const paper = paperOf(this.#output);
    // Each line erases the rest of its row, so that nothing of the previous frame is left. The lines are
    // already cut to the terminal's width.
    const painted = this.#lines(paper).map((line) => paint(line, paper) + END_OF_LINE);
    const snapshot = HOME + painted.join('\r\n');
    if (snapshot !== this.#shown) this.#output.write(snapshot);
    this.#shown = snapshot;
  }
}
