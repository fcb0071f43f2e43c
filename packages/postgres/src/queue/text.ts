/** Encodes a text for storage, since PostgreSQL cannot store the character 0. Texts with a common prefix keep a common prefix. */
export function storedText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

/** Decodes a stored text. */
export function textOf(stored: string): string {
  return stored.replaceAll(/\\(.)/gs, (_, character: string) => (character === '0' ? '\0' : character));
}
