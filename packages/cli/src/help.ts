/** Text about a command for its help and the manual page, in addition to its arguments and options. */
export interface Explanation {
  /** Paragraphs about the command, in lines of at most 120 characters. */
  readonly notes?: string;
  /** Example command lines, at least one, each with an optional remark. */
  readonly examples: readonly (string | readonly [command: string, remark: string])[];
}

interface HasHelp {
  addHelpText(position: 'after', text: string): unknown;
}

const explanations = new WeakMap<object, Explanation>();

/** Adds the text to the help of a command, and stores it for the manual page. */
export function explain<C extends HasHelp>(command: C, explanation: Explanation): C {
  explanations.set(command, explanation);
  const notes = explanation.notes === undefined ? '' : `\n${explanation.notes}\n`;
  const lines = exampleLines(explanation).map((line) => `  $ ${line}`);
  command.addHelpText('after', `${notes}\nExamples:\n${lines.join('\n')}`);
  return command;
}

/** Returns the text that `explain` has stored for this command. */
export function explanationOf(command: object): Explanation | undefined {
  return explanations.get(command);
}

/** Formats the examples, with their remarks in one column. */
export function exampleLines({ examples }: Explanation): string[] {
  const pairs = examples.map((example) => (typeof example === 'string' ? ([example, ''] as const) : example));
  const width = Math.max(...pairs.map(([command, remark]) => (remark === '' ? 0 : command.length)));
  return pairs.map(([command, remark]) =>
    remark === '' ? command : `${command.padEnd(width)}  # ${remark}`,
  );
}
