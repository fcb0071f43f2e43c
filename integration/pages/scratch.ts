import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeBlocks, type CodeBlock } from './code-blocks.ts';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const SITE = 'packages/site/pages';

/** The pages for users. All of their code is run. */
export const PAGES: readonly string[] = [
  ...['CHOOSING', 'EXAMPLES', 'PRODUCTION', 'TROUBLESHOOTING', 'MIGRATION'],
  ...readdirSync(join(ROOT, SITE)).map((name) => `${SITE}/${name}`),
];

/** Returns the code blocks of a page in the folder `packages`, or of another page by its path. */
export function blocksOf(page: string): readonly CodeBlock[] {
  return codeBlocks(textOf(page));
}

export function textOf(page: string): string {
  const path = page.endsWith('.md') ? page : `packages/${page}.md`;
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Maps texts in a program of a page, such as addresses, file names and times, to their replacements. */
export type Stage = Readonly<Record<string, string>>;

/** A directory in which programs of pages resolve the packages as a user's program does. */
export class Scratch {
  readonly #directory = mkdtempSync(join(ROOT, 'integration', 'node_modules', '.pages-'));
  #files = 0;

  path(name: string): string {
    return join(this.#directory, name);
  }

  /**
   * Writes a program of a page into a file, and returns the file's path. `stage` maps texts of the program to
   * their replacements.
   */
  write({ language, code, file }: CodeBlock, stage: Stage = {}): string {
    this.#files += 1;
    const path = this.path(`${String(this.#files)}-${file ?? `block.${language}`}`.replace(/\.ts$/, '.mts'));
    let text = code;
    for (const [output, there] of Object.entries(stage)) text = text.replaceAll(output, there);
    writeFileSync(path, text);
    return path;
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true });
  }
}

/** Returns whether a program needs a server or certificates. Such a program runs with the long tests. */
export function needsServer({ code }: Pick<CodeBlock, 'code'>): boolean {
  return /127\.0\.0\.1|\.pem/.test(code);
}
