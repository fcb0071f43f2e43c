/** The API reference: what TypeDoc writes of the documented entries, one page for each. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { rewriteLinks } from '../../../.ci/links.ts';
import { ROOT } from './sources.ts';

const MODULE = /^(\w+)\/src(?:\/([a-z]+)(?:-\d+)?)?\.md$/;

/** Writes the reference into the folder `api` of the content. */
export function writeReference(content: string): void {
  const raw = join(content, '.typedoc');
  const options = [
    '--options',
    '.ci/typedoc.json',
    '--plugin',
    'typedoc-plugin-markdown',
    '--emit',
    'docs',
    '--out',
    raw,
  ];
  const looks = [
    '--outputFileStrategy',
    'modules',
    '--entryFileName',
    'index',
    '--hidePageHeader',
    '--hideBreadcrumbs',
  ];
  const typedoc = join(ROOT, 'node_modules/.bin/typedoc');
  execFileSync(typedoc, [...options, ...looks, '--logLevel', 'Warn', '--treatWarningsAsErrors', 'false'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  const files = readdirSync(raw, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.md'),
  );
  mkdirSync(join(content, 'api'), { recursive: true });
  for (const file of files)
    writeFileSync(join(content, 'api', addressOf(file)), pageOf(file, readFileSync(join(raw, file), 'utf8')));
  rmSync(raw, { recursive: true });
}

/** The name of the file of an entry: `core/src.md` is `core.md`, and `core/src/backend-1.md` is `core-backend.md`. */
export function addressOf(file: string): string {
  if (file === 'index.md') return file;
  const [, name, entry] = MODULE.exec(file) ?? [];
  if (name === undefined) throw new Error(`TypeDoc wrote ${file}, which is no entry of a package`);
  return entry === undefined ? `${name}.md` : `${name}-${entry}.md`;
}

/** A page with the names by which packages are imported, and links between pages as they lie here. */
export function pageOf(file: string, text: string): string {
  const named = text
    .replace(/^# queuelock$/m, '# API reference')
    .replace(
      /^(# |- \[)(\w+)\/src(?:\/([a-z]+))?(?=$|\])/gm,
      (_, before: string, name: string, entry?: string) =>
        entry === undefined ? `${before}@queuelock/${name}` : `${before}@queuelock/${name}/${entry}`,
    );
  return rewriteLinks(named, ({ path, anchor }) =>
    path === '' ? undefined : `./${addressOf(posix.join(posix.dirname(file), path))}${anchor}`,
  );
}
