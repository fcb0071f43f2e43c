/**
 * Characters that a terminal obeys or that a reader cannot see: C0 and C1 controls, bidirectional and zero-width marks, line and paragraph
 * separators, unpaired surrogates, private and unassigned code points. Variation selectors stay: they choose the look of the one before.
 */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|(?!\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/gu;
const PLAIN = /^[\x20-\x7e]*$/;

/** Long enough for every owner and reason that a person writes. */
const MAX_LENGTH = 200;

/**
 * Writes hidden characters as JSON escapes them, so that no terminal or log obeys them. JSON stays the same JSON.
 * @returns text on one line
 */
export function escapeControls(text: string): string {
  return PLAIN.test(text) ? text : text.replace(HIDDEN, escaped);
}

/**
 * Prepares text of another process for a person's eyes: escaped as by {@link escapeControls}, and cut with an ellipsis. Text that was
 * prepared stays as it is.
 * @param maxLength of the result, in UTF-16 code units
 */
export function toPrintable(text: string, maxLength: number = MAX_LENGTH): string {
  return shorten(escapeControls(text.slice(0, maxLength + 1)), maxLength);
}

/** Cuts text with an ellipsis. No character is cut in two. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Quotes a name in a message: as JSON, without characters that a terminal obeys. */
export function quote(text: string): string {
  return escapeControls(JSON.stringify(text));
}

function escaped(hidden: string): string {
  const units = Array.from({ length: hidden.length }, (_, place) => hidden.charCodeAt(place));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
