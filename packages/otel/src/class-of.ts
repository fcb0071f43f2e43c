/**
 * Returns the default class of a lock: its name up to the last `/`. So `invoices/2026-11` and `invoices/2026-12` have the class `invoices`.
 * A name without a `/` is its own class.
 */
export function classOfName(name: string): string {
  const end = name.lastIndexOf('/');
  return end > 0 ? name.slice(0, end) : name;
}
