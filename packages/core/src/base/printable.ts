/**
 * Characters that a terminal obeys or that a person cannot see: C0 and C1 controls, bidirectional and zero-width marks, line and paragraph
 * separators, unpaired surrogates, private and unassigned code points. Variation selectors stay: they select the shape of the character before.
 */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|(?!\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/gu;
const PLAIN = /^[\x20-\x7e]*$/;

/** Default maximum length in UTF-16 code units. Every realistic owner and reason fits. */
const MAX_LENGTH = 200;

/**
 * Escapes hidden characters as JSON does, so that no terminal or log interprets them. JSON text stays equivalent JSON.
 * @returns text on one line
 */
export function escapeControls(text: string): string {
  return PLAIN.test(text) ? text : text.replace(HIDDEN, escaped);
}

/**
 * Prepares text from another process for display: escaped as by {@link escapeControls}, and shortened with an ellipsis. Applying it twice changes
 * nothing more.
 * @param maxLength of the result, in UTF-16 code units
 */
export function toPrintable(text: string, maxLength: number = MAX_LENGTH): string {
  return shorten(escapeControls(text.slice(0, maxLength + 1)), maxLength);
}

/** Shortens text with an ellipsis, without splitting a character. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Quotes a name for a message: as JSON, without characters that a terminal interprets. */
export function quote(text: string): string {
  return escapeControls(JSON.stringify(text));
}

function escaped(hidden: string): string {
  const units = Array.from({ length: hidden.length }, (_, place) => hidden.charCodeAt(place));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
