import { readFileSync } from 'node:fs';

/**
 * The placeholder for the owner in `repository` of the root manifest, as long as there is no public
 * repository.
 */
export const PLACEHOLDER = 'OWNER';

const FORM = /^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/;

/**
 * Returns the web address of the repository from the root manifest, the only place where it is written by
 * hand.
 */
export function repositoryUrl(): string {
  const { repository } = JSON.parse(readFileSync('package.json', 'utf8')) as { repository: { url: string } };
  const url = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
  if (!FORM.test(url))
    throw new Error(
      `package.json: repository.url is ${JSON.stringify(repository.url)}; it must be git+https://github.com/OWNER/NAME.git`,
    );
  return url;
}

/** Returns whether the root manifest still has the placeholder `OWNER` for the owner of the repository. */
export function hasPlaceholder(): boolean {
  return repositoryUrl().includes(`/${PLACEHOLDER}/`);
}
