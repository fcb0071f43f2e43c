// A stream has room for so many topics, and other views need some.
const MOST = 24;

/** Names as they were kept; none where what was kept is something else. */
export function namesFrom(text: string): readonly string[] {
  try {
    const kept: unknown = JSON.parse(text);
    const names: readonly unknown[] = Array.isArray(kept) ? kept : [];
    return names.filter((name): name is string => typeof name === 'string' && name !== '').slice(0, MOST);
  } catch {
    // Somebody else wrote there.
    return [];
  }
}

/** Names as they are kept. */
export function namesText(names: readonly string[]): string {
  return JSON.stringify(names);
}

/** With this one first; the last ones fall out when there are too many. */
export function withName(names: readonly string[], name: string): readonly string[] {
  return [name, ...withoutName(names, name)].slice(0, MOST);
}

/** Without this one. */
export function withoutName(names: readonly string[], name: string): readonly string[] {
  return names.filter((other) => other !== name);
}
