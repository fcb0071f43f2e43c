/**
 * The class of a lock by its name, unless another rule is given: what is in front of the last `/`, so that `invoices/2026-11` and
 * `invoices/2026-12` are of the class `invoices`. A name without one is its own class.
 */
export function classOfName(name: string): string {
  const end = name.lastIndexOf('/');
  return end > 0 ? name.slice(0, end) : name;
}
