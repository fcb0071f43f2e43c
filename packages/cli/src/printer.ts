import type { LineWriter } from './lines.ts';

/** Prints the results of a command, as JSON for programs or as text for users. */
export interface Printer {
  /** Prints `value` as one line of JSON, or else the lines of `text`. */
  print(value: object, ...text: readonly string[]): void;
}

/**
 * Returns a `Printer` that prints to `lines`.
 * @param json whether to print JSON instead of text
 */
export function printer(lines: LineWriter, json: boolean): Printer {
  return {
    print(value, ...text) {
      if (json) lines.write(jsonLine(value));
      else for (const line of text) lines.write(line);
    },
  };
}

/** Formats JSON on one line. Large numbers (fencing tokens, order numbers) are decimal strings. */
export function jsonLine(value: object): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
}
