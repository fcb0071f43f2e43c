/**
 * Checks the chapters of the packages. A chapter is a folder of a package's `src`. One of its files begins
 * with a comment that describes the folder, and imports between chapters run in one direction only.
 * This program also checks that no modules of the repository import each other in a circle, type imports
 * included, and that packages/architecture.svg shows the present imports. --update draws that file.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { drawing, type Box } from './drawing.ts';
import { circleIn, type Import } from './import-circles.ts';
import { circleOfModules } from './modules.ts';
import { publicPackages } from './packages.ts';

/** The packages whose sources are divided into chapters (folders with a description). */
const CUT = ['core', 'etcd', 'zookeeper', 'redis', 'postgres', 'mysql', 'sqlite', 'consul'];
const DRAWING = 'packages/architecture.svg';
/**
 * Name under which packages/architecture.svg shows the files directly in `src`. They may import all folders
 * of `src`, and no folder may import them.
 */
const DOORS = 'doors';
/** Matches the first line of one file in each folder of `src`: the name of the folder, and what it does. */
const DESCRIPTION = /^\/\/ Folder "([^"]+)": (.+)\.\n/;

interface Source {
  /** Path of the source file below `src` of its package. */
  readonly path: string;
  readonly text: string;
  /** The modules that the source file imports: paths below `src`, and names of packages. */
  readonly imports: readonly string[];
}

function sourcesOf(name: string): readonly Source[] {
  const src = join('packages', name, 'src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  return files.toSorted().map((path) => {
    const text = readFileSync(join(src, path), 'utf8');
    const { importedFiles } = ts.preProcessFile(text);
    const below = (of: string): string => (of.startsWith('.') ? join(dirname(path), of) : of);
    return { path, text, imports: importedFiles.map(({ fileName }) => below(fileName)) };
  });
}

const chapterOf = (path: string): string => /^([^/]+)\//.exec(path)?.[1] ?? DOORS;

/** Returns the imports of a package that lead from one folder of its `src` to another. */
function importsBetween(sources: readonly Source[]): readonly Import[] {
  const paths = new Set(sources.map(({ path }) => path));
  return sources
    .flatMap(({ path, imports }) =>
      imports
        .filter((of) => paths.has(of))
        .map((of) => ({ from: chapterOf(path), to: chapterOf(of), because: `${path} imports ${of}` })),
    )
    .filter(({ from, to }) => from !== to);
}

/** Returns the folders of a package's `src`, each with the descriptions in the first lines of its files. */
function chaptersOf(sources: readonly Source[]): ReadonlyMap<string, readonly string[]> {
  const chapters = new Map<string, string[]>();
  for (const { path, text } of sources) {
    const descriptions = chapters.get(chapterOf(path)) ?? [];
    const [, chapter, description] = DESCRIPTION.exec(text) ?? [];
    if (description !== undefined && chapter === chapterOf(path)) descriptions.push(description);
    chapters.set(chapterOf(path), descriptions);
  }
  chapters.delete(DOORS);
  return chapters;
}

function* wrongWith(name: string, sources: readonly Source[]): Generator<string> {
  const circle = circleIn(importsBetween(sources));
  if (circle) {
    const way = [...circle.map(({ from }) => from), circle[0]?.from].join(' → ');
    yield `${name}: the chapters ${way} import each other: ${circle.map(({ because }) => because).join('; ')}`;
  }
  for (const [chapter, descriptions] of chaptersOf(sources))
    if (descriptions.length !== 1)
      yield `${name}: in the chapter ${chapter} one file begins with '// Folder "${chapter}": ….', not ${String(descriptions.length)}`;
}

function snapshot(): string {
  const packages = publicPackages()
    .map(({ name }) => name)
    .toSorted();
  const among = packages.flatMap((from) =>
    sourcesOf(from)
      .flatMap(({ imports }) => imports.map((of) => /^@queuelock\/([^/]+)/.exec(of)?.[1] ?? from))
      .filter((to) => to !== from && packages.includes(to))
      .map((to) => ({ from, to })),
  );
  const core = sourcesOf('core');
  const doors = core.filter(({ path }) => chapterOf(path) === DOORS).map(({ path }) => path);
  const chapters: readonly Box[] = [
    { name: DOORS, text: doors.join(', ') },
    ...[...chaptersOf(core)].map(([name, [text = '']]) => ({ name, text })),
  ];
  return drawing([
    { title: 'The packages', boxes: packages.map((name) => ({ name, text: '' })), arrows: among },
    { title: 'The chapters of core', boxes: chapters, arrows: importsBetween(core) },
  ]);
}

/**
 * Yields a message if the drawing packages/architecture.svg does not show the present imports, or writes it
 * with --update. Call this function only if no imports form a circle: arrows of the drawing lead down, so it
 * cannot show a circle.
 */
function* wrongWithDrawing(): Generator<string> {
  const drawn = snapshot();
  if (process.argv.includes('--update')) writeFileSync(DRAWING, drawn);
  else if (!existsSync(DRAWING) || readFileSync(DRAWING, 'utf8') !== drawn)
    yield `${DRAWING} does not show the imports as they are: pnpm chapters --update`;
}

function* wrongWithModules(): Generator<string> {
  const circle = circleOfModules();
  if (circle.length === 0) return;
  const imports = circle.map(({ from, to }) => `  ${from} imports ${to}`);
  yield `modules import each other, so give what they share a file of its own:\n${imports.join('\n')}`;
}

const inChapters = [...CUT.flatMap((name) => [...wrongWith(name, sourcesOf(name))]), ...wrongWithModules()];
const wrong = inChapters.length > 0 ? inChapters : [...wrongWithDrawing()];
for (const line of wrong) console.error(line);
if (wrong.length > 0) process.exitCode = 1;
