import type { Arrow } from './drawing.ts';

/** An import from one module or folder of the repository into another. */
export interface Import extends Arrow {
  /** Text that the error message shows for this import: `<file> imports <file>`. */
  readonly because: string;
}

/** Returns a cycle of imports, each from the target of the previous one, or `undefined` if there is none. */
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
