// Matches common characters that terminals show two columns wide. Some rare wide characters are missing.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const NARROWLESS = /\p{Mn}|\p{Me}/u;

/** Returns the number of terminal columns that a text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

function columnsOf(character: string): number {
  if (character <= '\u02ff') return 1;
  if (NARROWLESS.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Cuts a text with an ellipsis or pads it with blanks to exactly this number of columns. */
export function fit(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const cut = widthOf(text) <= width ? text : `${head(text, width - 1)}…`.slice(0, Math.max(0, width));
  const blanks = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return align === 'left' ? cut + blanks : blanks + cut;
}

function head(text: string, width: number): string {
  let left = width;
  let shown = '';
  for (const character of text) {
    left -= columnsOf(character);
    if (left < 0) break;
    shown += character;
  }
  return shown;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** Formats a duration in its two largest units: `350ms`, `4.2s`, `3m05s`, `2h07m`, `12d04h`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '-';
  // A clock that is behind makes the duration negative; it is shown as 0.
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${String(whole)}ms`;
  if (whole < 9_950) return `${(whole / 1_000).toFixed(1)}s`;
  if (whole < 10_000) return '10s';
  const at = UNITS.findIndex(([, unit]) => whole >= unit);
  const [name, unit] = UNITS[at] ?? UNITS[3];
  const next = UNITS[at + 1];
  const large = String(Math.floor(whole / unit)) + name;
  if (!next) return large;
  return `${large}${String(Math.floor((whole % unit) / next[1])).padStart(2, '0')}${next[0]}`;
}

/** Formats a count with commas between the thousands. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Formats a count with its noun: `1 queue`, `2 queues`. */
export function counted(value: number, what: string, many = `${what}s`): string {
  return `${count(value)} ${value === 1 ? what : many}`;
}

/** Formats the local time of day of a moment in milliseconds since 1970. */
export function timeOfDay(at: number): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, '0');
  const milliseconds = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`;
}
