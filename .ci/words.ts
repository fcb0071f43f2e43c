/**
 * Checks that text, code included, uses the words of packages/GLOSSARY.md. A file may have as many ruled out
 * words as .ci/words.json allows for it; a file that is not listed there may have none. Files that
 * git ignores are not read. --update writes the counts.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lint } from 'cspell';

const COUNTS = '.ci/words.json';
const CONFIG = '.ci/cspell.config.js';
const TEXT = /\.(ts|tsx|md)$/;
// Skips the glossary, because it quotes the ruled out words, and files that programs generate.
const SKIPPED = /(GLOSSARY|EVIDENCE)\.md$|CHANGELOG\.md$|\.api\.md$/;
const ROOTS = ['.ci', '.github', 'integration', 'packages'];
// The large folders that git ignores. cspell would skip them anyway, but listing their files takes time.
const GENERATED = new Set(['node_modules', 'dist', 'bundle']);
const MAX_SHOWN = 5;

interface Found {
  readonly file: string;
  readonly where: string;
}

function textFilesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return GENERATED.has(entry.name) ? [] : textFilesIn(path);
    return TEXT.test(path) && !SKIPPED.test(path) ? [path] : [];
  });
}

async function findWords(): Promise<readonly Found[]> {
  const texts = ['README.md', ...ROOTS.flatMap(textFilesIn)];
  const found: Found[] = [];
  const { errors } = await lint(
    [],
    { config: CONFIG, files: texts.map((file) => resolve(file)), gitignore: true },
    {
      issue: ({ uri = '', row, col, text }) => {
        const file = relative('.', fileURLToPath(uri));
        found.push({ file, where: `${file}:${row}:${col} "${text}"` });
      },
      error: (message, error) => console.error(message, error),
    },
  );
  if (errors > 0) throw new Error(`cspell could not read ${errors} files`);
  return found;
}

const found = await findWords();
const counts: Record<string, number> = {};
for (const { file } of found.toSorted((one, other) => (one.file < other.file ? -1 : 1)))
  counts[file] = (counts[file] ?? 0) + 1;
if (process.argv.includes('--update')) writeFileSync(COUNTS, `${JSON.stringify(counts, undefined, 2)}\n`);
else {
  const allowed = JSON.parse(readFileSync(COUNTS, 'utf8')) as Readonly<Record<string, number>>;
  const tooMany = Object.keys(counts).filter((file) => (counts[file] ?? 0) > (allowed[file] ?? 0));
  for (const file of tooMany) {
    console.error(
      `${file}: ${counts[file]} words that packages/GLOSSARY.md rules out, ${allowed[file] ?? 0} are allowed`,
    );
    for (const { where } of found.filter((one) => one.file === file).slice(0, MAX_SHOWN))
      console.error(`  ${where}`);
  }
  if (tooMany.length > 0) process.exitCode = 1;
}
console.log(`${found.length} ruled out words in ${Object.keys(counts).length} files`);
