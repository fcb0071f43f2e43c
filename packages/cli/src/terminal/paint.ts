import { styleText } from 'node:util';
import { escapeControls } from '@queuelock/core';

export type Colour = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

/** A part of a line, with an optional colour. */
export type Span = string | readonly [text: string, colour: Colour];

/**
 * Cuts a line to the available columns and colours it. All characters must have width 1. The colours are the
 * only control characters in the result.
 */
export function paint(
  line: readonly Span[],
  { columns, colours }: { columns: number; colours: boolean },
): string {
  let left = columns;
  let painted = '';
  for (const span of line) {
    const [text, colour] = typeof span === 'string' ? [span, undefined] : span;
    const shown = Array.from(escapeControls(text)).slice(0, left);
    left -= shown.length;
    painted += coloured(shown.join(''), colours ? colour : undefined);
  }
  return painted.trimEnd();
}

function coloured(text: string, colour: Colour | undefined): string {
  return colour && text !== '' ? styleText(colour, text) : text;
}
