export function readFileSync(path: string): never {
  throw new Error(`there are no files in a page: ${path}`);
}
