import type { Writable } from 'node:stream';
import { escapeControls } from '@queuelock/core';
import { exitCodeOf } from './exit-codes.ts';
import { paint, type Span } from './terminal/paint.ts';
import { hasColours } from './terminal/terminal.ts';

/** Writes lines to a stream that may be slow or closed. Control characters are escaped as in JSON. */
export interface LineWriter {
  /** Writes a line after all earlier lines. Does nothing after the reader of the stream has closed it. */
  write(line: string): void;
  /** Writes a line as `write` does, with colours if the stream supports them. */
  paint(line: readonly Span[]): void;
  /**
   * Resolves when the stream has written all lines that were passed so far, or when its reader has closed it.
   */
  flushed(): Promise<void>;
}

/**
 * Returns a `LineWriter` that writes to the stream.
 * @param onEnd called once when the stream fails, for instance with `EPIPE` because the reader has closed it
 */
export function lineWriter(stream: Writable, onEnd: () => void): LineWriter {
  let gone = false;
  let last: Promise<void> = Promise.resolve();
  stream.on('error', () => {
    if (gone) return;
    gone = true;
    onEnd();
  });
  const queue = (line: string): void => {
    if (gone) return;
    // A stream completes writes in order. So the callback of the last write shows that all earlier writes are
    // complete too.
    last = new Promise((resolve) => {
      stream.write(`${line}\n`, () => {
        resolve();
      });
    });
  };
  return {
    write: (line) => queue(escapeControls(line)),
    paint: (line) =>
      queue(paint(line, { columns: Number.POSITIVE_INFINITY, colours: hasColours(process.stdout) })),
    flushed: () => last,
  };
}

/** Writes a complete text to standard output. If the reader closes it, the process ends as with SIGPIPE. */
export function writeOut(text: string): void {
  process.stdout.once('error', () => {
    process.exitCode = exitCodeOf('SIGPIPE');
  });
  process.stdout.write(text);
}
