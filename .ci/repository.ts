import { readFileSync } from 'node:fs';

/** The placeholder of the owner in `repository` of the root manifest until there is a public repository. */
export const PLACEHOLDER = 'OWNER';

const FORM = /^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/;

/** The web address of the repository, by the root manifest, which is the only place that is written by hand. */
export function repositoryUrl(): string {
  const { repository } = JSON.parse(readFileSync('package.json', 'utf8')) as { repository: { url: string } };
  const url = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
  if (!FORM.test(url))
    throw new Error(
      `package.json: repository.url is ${JSON.stringify(repository.url)}; it must be git+https://github.com/OWNER/NAME.git`,
    );
  return url;
}

/** Whether the owner is not filled in yet. */
export function hasPlaceholder(): boolean {
  return repositoryUrl().includes(`/${PLACEHOLDER}/`);
}
