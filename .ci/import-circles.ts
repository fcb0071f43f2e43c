import type { Arrow } from './drawing.ts';

/** An import between two chapters or modules. */
export interface Import extends Arrow {
  /** The import as a text, for messages of the check. */
  readonly because: string;
}

/** Returns imports that form a circle, or `undefined` if there are none. */
export function circleIn(imports: readonly Import[]): readonly Import[] | undefined {
  const importsOf = new Map<string, Import[]>();
  for (const one of imports) importsOf.set(one.from, [...(importsOf.get(one.from) ?? []), one]);
  const isFree = new Set<string>();
  const search = (path: readonly Import[], at: string): readonly Import[] | undefined => {
    const begin = path.findIndex(({ from }) => from === at);
    if (begin !== -1) return path.slice(begin);
    if (isFree.has(at)) return undefined;
    for (const next of importsOf.get(at) ?? []) {
      const found = search([...path, next], next.to);
      if (found) return found;
    }
    isFree.add(at);
    return undefined;
  };
  for (const from of importsOf.keys()) {
    const found = search([], from);
    if (found) return found;
  }
  return undefined;
}
