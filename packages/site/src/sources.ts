import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { repositoryUrl } from '../../../.ci/repository.ts';
import type { Sources } from './compose.ts';

/** The root of the repository. */
export const ROOT: string = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/** Returns access to the files of this repository. */
export function repositorySources(): Sources {
  return {
    read: (file) => readFileSync(join(ROOT, file), 'utf8'),
    kindOf: (path) => {
      if (!existsSync(join(ROOT, path))) return 'none';
      return statSync(join(ROOT, path)).isDirectory() ? 'folder' : 'file';
    },
    repository: repositoryUrl(),
    // VitePress reads the pages from packages/site/.content, which is three levels below the root.
    rootFrom: (levels) => '../'.repeat(levels + 3),
  };
}
