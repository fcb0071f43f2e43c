/**
 * Encodes a text for storage, because PostgreSQL cannot store the character 0. Texts that begin alike still
 * do so after the encoding, so searches by prefix work.
 */
export function storedText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

/** Decodes a stored text. */
export function textOf(stored: string): string {
  return stored.replaceAll(/\\(.)/gs, (_, character: string) => (character === '0' ? '\0' : character));
}
