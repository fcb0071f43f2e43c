// Largest number of stored names. It leaves room in the stream for topics of other views.
const MAX_NAMES = 24;

/** Parses stored names. Returns an empty list for malformed text. */
export function namesFrom(text: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(text);
    const names: readonly unknown[] = Array.isArray(stored) ? stored : [];
    return names
      .filter((name): name is string => typeof name === 'string' && name !== '')
      .slice(0, MAX_NAMES);
  } catch {
    // The stored text was not written by this page, so it is ignored.
    return [];
  }
}

/** Formats names for storage. */
export function namesText(names: readonly string[]): string {
  return JSON.stringify(names);
}

/** Returns the names with `name` first. The last names are dropped when there are too many. */
export function withName(names: readonly string[], name: string): readonly string[] {
  return [name, ...withoutName(names, name)].slice(0, MAX_NAMES);
}

/** Returns the names without `name`. */
export function withoutName(names: readonly string[], name: string): readonly string[] {
  return names.filter((other) => other !== name);
}
