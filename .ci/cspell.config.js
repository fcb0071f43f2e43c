// Settings of cspell that reject the words that packages/GLOSSARY.md rules out: those in code marks in the
// last column of its table.
import { readFileSync } from 'node:fs';

const glossary = readFileSync(new URL('../packages/GLOSSARY.md', import.meta.url), 'utf8');
const rows = glossary.split('\n').filter((line) => line.startsWith('|'));
const flagWords = rows.flatMap((row) =>
  Array.from(
    row
      .split('|')
      .at(-2)
      .matchAll(/`([^`]+)`/g),
    ([, word]) => word,
  ),
);

export default { version: '0.2', unknownWords: 'report-flagged', dictionaries: [], flagWords };
