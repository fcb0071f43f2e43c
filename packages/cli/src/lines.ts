import type { Writable } from 'node:stream';
import { escapeControls } from '@queuelock/core';
import { exitCodeOf } from './exit-codes.ts';
import { paint, type Span } from './terminal/paint.ts';
import { hasColours } from './terminal/terminal.ts';

/** Lines to a stream that may be slow or go away. Characters that a terminal obeys are written as JSON escapes them. */
export interface LineWriter {
  /** Queues a line; nothing happens any more once the reader has gone. */
  write(line: string): void;
  /** As `write`, coloured where colours are wanted. */
  paint(line: readonly Span[]): void;
  /** Settles when every line so far is with the reader, or the reader has gone. */
  flushed(): Promise<void>;
}

/** @param onGone is called once when nobody reads any more (`EPIPE`, or any other error of the stream) */
export function lineWriter(stream: Writable, onGone: () => void): LineWriter {
  let gone = false;
  let last: Promise<void> = Promise.resolve();
  stream.on('error', () => {
    if (gone) return;
    gone = true;
    onGone();
  });
  const queue = (line: string): void => {
    if (gone) return;
    // Writes are done in order, so the last one's callback stands for all.
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

/** A text that is there as a whole, to standard output. When its reader goes away, it is as if SIGPIPE had ended the process. */
export function writeOut(text: string): void {
  process.stdout.once('error', () => {
    process.exitCode = exitCodeOf('SIGPIPE');
  });
  process.stdout.write(text);
}
