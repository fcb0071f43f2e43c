// Leaves room in the stream for topics of other views.
const MAX_NAMES = 24;

/** Parses stored names. Returns none for text of another form. */
export function namesFrom(text: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(text);
    const names: readonly unknown[] = Array.isArray(stored) ? stored : [];
    return names
      .filter((name): name is string => typeof name === 'string' && name !== '')
      .slice(0, MAX_NAMES);
  } catch {
    // The text was not stored by this page.
    return [];
  }
}

/** Formats names for storage. */
export function namesText(names: readonly string[]): string {
  return JSON.stringify(names);
}

/** Returns the names with this one first. The last ones are dropped when there are too many. */
export function withName(names: readonly string[], name: string): readonly string[] {
  return [name, ...withoutName(names, name)].slice(0, MAX_NAMES);
}

/** Returns the names without this one. */
export function withoutName(names: readonly string[], name: string): readonly string[] {
  return names.filter((other) => other !== name);
}
