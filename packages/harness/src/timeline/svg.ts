/** Attributes of an SVG element. Numbers are rounded to a tenth of a pixel. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Formats an SVG element. `content` is markup, so a text must be passed through `escaped` first. */
export function element(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return ` ${key}="${typeof value === 'number' ? Math.round(value * 10) / 10 : escaped(value)}"`;
  });
  return content === ''
    ? `<${name}${written.join('')}/>`
    : `<${name}${written.join('')}>${content}</${name}>`;
}

/** Formats a line of text as an SVG element. With `widthPx` the text is cut to this width. */
export function text(words: string, attributes: Attributes, widthPx = Infinity): string {
  const most = Math.max(0, Math.floor(widthPx / CHARACTER_PX));
  const shown = words.length <= most ? words : `${words.slice(0, Math.max(0, most - 1))}…`;
  return element('text', attributes, escaped(shown));
}

/** Formats the tooltip of an SVG element, for use as the content of that element. */
export function hint(words: string): string {
  return element('title', {}, escaped(words));
}

/** Approximate width of a character in pixels. Text can be measured only in a browser. */
const CHARACTER_PX = 6.3;

export function widthOf(words: string): number {
  return words.length * CHARACTER_PX;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for content and attributes; characters that XML cannot represent become a replacement character. */
export function escaped(words: string): string {
  return words
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
