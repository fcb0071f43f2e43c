/** A block of code in a page. */
export interface CodeBlock {
  readonly language: string;
  /**
   * Name of the file that the block's first line states, for instance `cron.ts` for `// cron.ts: what else it
   * needs`.
   */
  readonly file?: string;
  readonly code: string;
  /** The output that the page states, in a block of `text` directly after the program. */
  readonly prints?: string;
}

const FENCE = /^```(\w+)\n(.*?)^```$/gms;

/** Returns all blocks of a page, in order. */
export function codeBlocks(page: string): readonly CodeBlock[] {
  const found = [...page.matchAll(FENCE)].map(([, language = '', code = '']) => ({ language, code }));
  return found.flatMap(({ language, code }, at) => {
    if (language === 'text') return [];
    const file = /^(?:\/\/|#) ([\w-]+(?:\.\w+)+)/.exec(code)?.[1];
    const next = found[at + 1];
    return [
      {
        language,
        code,
        ...(file === undefined ? {} : { file }),
        ...(next?.language === 'text' ? { prints: next.code } : {}),
      },
    ];
  });
}
