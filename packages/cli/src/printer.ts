import type { LineWriter } from './lines.ts';

/** Says the same to programs and to people. */
export interface Printer {
  /** One JSON object on a line, or the lines of text. */
  print(value: object, ...text: readonly string[]): void;
}

/** @param json whether a program reads it */
export function printer(lines: LineWriter, json: boolean): Printer {
  return {
    print(value, ...text) {
      if (json) lines.write(jsonLine(value));
      else for (const line of text) lines.write(line);
    },
  };
}

/** JSON on one line. Numbers that may be large (tokens, orders) are decimal strings. */
export function jsonLine(value: object): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
}
