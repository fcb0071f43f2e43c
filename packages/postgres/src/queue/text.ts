/** A text as it is stored: PostgreSQL holds every character but 0. What begins alike is stored with a like beginning. */
export function storedText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

/** And back. */
export function textOf(stored: string): string {
  return stored.replaceAll(/\\(.)/gs, (_, character: string) => (character === '0' ? '\0' : character));
}
