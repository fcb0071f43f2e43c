/**
 * Encodes a text for storage, because PostgreSQL cannot store the character 0. Texts with a common prefix
 * also have a common prefix after the encoding, so searches by prefix work.
 */
export function storedText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

/** Decodes a text that `storedText` has encoded for storage. */
export function textOf(stored: string): string {
  return stored.replaceAll(/\\(.)/gs, (_, character: string) => (character === '0' ? '\0' : character));
}
