import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Matches test files about features of browsers that a store does not have: interface objects, secure
 * contexts, buckets, service workers, origins, page caches, crashes.
 */
const NOT_FOR_STORES =
  /idlharness|secure-context|storage-buckets|clientids|opaque-origin|partitioned|non-fully-active|bfcache|crashtests|release-following|windows/;

/** Returns the test files in a directory that apply to locks in a store. */
export async function testFilesIn(directory: string): Promise<readonly string[]> {
  const files = await readdir(directory);
  return files.filter((file) => /\.https\.(any\.js|html)$/.test(file) && !NOT_FOR_STORES.test(file)).sort();
}

/** Returns the scripts of a test file in order, without those of testharness.js. */
export async function scriptsOf(directory: string, file: string): Promise<readonly string[]> {
  const text = await readFile(join(directory, file), 'utf8');
  const parts = file.endsWith('.html') ? scriptsInPage(text) : [...includesOf(text), { text }];
  const base = dirname(file);
  return Promise.all(
    parts.map(async (part) =>
      'text' in part ? part.text : readFile(join(directory, base, part.path), 'utf8'),
    ),
  );
}

type Part = { readonly text: string } | { readonly path: string };

function includesOf(script: string): readonly Part[] {
  return [...script.matchAll(/^\/\/ META: script=(.*)$/gm)].map(([, path = '']) => ({ path }));
}

function scriptsInPage(page: string): readonly Part[] {
  return [...page.matchAll(/<script(?: src="([^"]*)")?>(.*?)<\/script>/gs)]
    .filter(([, path]) => !path?.startsWith('/resources/testharness'))
    .map(([, path, text = '']) => (path === undefined ? { text } : { path }));
}
