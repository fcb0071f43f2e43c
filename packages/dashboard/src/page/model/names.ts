// The largest number of stored names of elections. The page watches one topic for each name, and the bridge
// limits the topics of a client.
const MAX_NAMES = 24;

/** Parses the stored list of election names. Returns an empty list for malformed text. */
export function namesFrom(text: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(text);
    const names: readonly unknown[] = Array.isArray(stored) ? stored : [];
    return names
      .filter((name): name is string => typeof name === 'string' && name !== '')
      .slice(0, MAX_NAMES);
  } catch {
    // Ignores a stored text that this page did not write.
    return [];
  }
}

/** Formats the list of election names for storage. */
export function namesText(names: readonly string[]): string {
  return JSON.stringify(names);
}

/**
 * Returns the list of election names with `name` moved to its beginning. If the list is then too long, the
 * last names are dropped.
 */
export function withName(names: readonly string[], name: string): readonly string[] {
  return [name, ...withoutName(names, name)].slice(0, MAX_NAMES);
}

export function withoutName(names: readonly string[], name: string): readonly string[] {
  return names.filter((other) => other !== name);
}
