/** A text of somebody else's, on one line and without what a terminal would obey: control characters are shown as in JSON. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    Array.from(character, (part) => `\\u${(part.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}
