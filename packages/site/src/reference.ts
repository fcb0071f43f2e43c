/** The API reference: what TypeDoc writes of the documented entries, one page for each. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { anchorsOf, rewriteLinks } from '../../../.ci/links.ts';
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
  const texts = new Map(files.map((file) => [file, readFileSync(join(raw, file), 'utf8')]));
  const hasHeading = (file: string, anchor: string): boolean =>
    anchorsOf(texts.get(file) ?? '').includes(anchor);
  for (const [file, text] of texts)
    writeFileSync(join(content, 'api', addressOf(file)), pageOf(file, text, hasHeading));
  rmSync(raw, { recursive: true });
}

/** The name of the file of an entry: `core/src.md` is `core.md`, and `core/src/backend-1.md` is `core-backend.md`. */
export function addressOf(file: string): string {
  if (file === 'index.md') return file;
  const [, name, entry] = MODULE.exec(file) ?? [];
  if (name === undefined) throw new Error(`TypeDoc wrote ${file}, which is no entry of a package`);
  return entry === undefined ? `${name}.md` : `${name}-${entry}.md`;
}

/**
 * A page with the names by which packages are imported, and links between pages as they lie here. TypeDoc numbers some headings that are the
 * only ones of their name: such a number is left out.
 */
export function pageOf(
  file: string,
  text: string,
  hasHeading: (file: string, anchor: string) => boolean = () => true,
): string {
  const named = text
    .replace(/^# queuelock$/m, '# API reference')
    .replace(
      /^(# |- \[)(\w+)\/src(?:\/([a-z]+))?(?=$|\])/gm,
      (_whole, ...[before, name, entry]: readonly string[]) =>
        `${before ?? ''}@queuelock/${name ?? ''}${entry === undefined ? '' : `/${entry}`}`,
    );
  return rewriteLinks(named, ({ path, anchor }) => {
    const target = path === '' ? file : posix.join(posix.dirname(file), path);
    const heading = hasHeading(target, anchor.slice(1)) ? anchor : anchor.replace(/-\d+$/, '');
    return path === '' ? heading : `./${addressOf(target)}${heading}`;
  });
}
