/**
 * Makes a text from a store safe to show. Characters that a screen would hide or reorder are replaced by their escape sequences,
 * because any program may have written the text.
 */
export function plain(text: string): string {
  return text.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (hidden) => `\\u{${(hidden.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Cuts a text to a number of characters, with an ellipsis if it is longer. */
export function short(text: string, max: number): string {
  const all = Array.from(text);
  return all.length > max ? `${all.slice(0, max - 1).join('')}…` : text;
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
  // A duration from the time of one clock to that of another may be negative. It is shown as 0.
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole}ms`;
  if (whole < 9_950) return `${(whole / 1_000).toFixed(1)}s`;
  return inUnits(Math.max(10_000, whole));
}

function inUnits(whole: number): string {
  const at = UNITS.findIndex(([, unit]) => whole >= unit);
  const [name, unit] = UNITS[at] ?? UNITS[3];
  const next = UNITS[at + 1];
  const large = String(Math.floor(whole / unit)) + name;
  if (!next) return large;
  return `${large}${String(Math.floor((whole % unit) / next[1])).padStart(2, '0')}${next[0]}`;
}

/** Formats a duration that is updated every second: without tenths of seconds, and never below `0s`. */
export function seconds(ms: number): string {
  return ms < 9_950 ? `${Math.floor(Math.max(0, ms) / 1_000)}s` : duration(ms);
}

/** Formats a count with commas between the thousands. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Formats a count with its noun: `1 queue`, `2 queues`. */
export function counted(value: number, what: string, many = `${what}s`): string {
  return `${count(value)} ${value === 1 ? what : many}`;
}

/** Formats a rate per second. */
export function rate(perS: number): string {
  return perS >= 100 ? count(Math.round(perS)) : perS.toFixed(1);
}

/** Formats an ordinal: `1st`, `2nd`, `3rd`, `11th`. */
export function ordinal(position: number): string {
  const teen = position % 100 >= 11 && position % 100 <= 13;
  const suffix = teen ? 'th' : (['th', 'st', 'nd', 'rd'][position % 10] ?? 'th');
  return `${count(position)}${suffix}`;
}

/** Formats the time of day of a moment in milliseconds since 1970, in the time zone of this machine. */
export function timeOfDay(at: number): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
