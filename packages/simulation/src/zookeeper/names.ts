/** Parses the name of an entry, independently of the code under test. */
export interface Named {
  readonly number: number;
  readonly shared: boolean;
  readonly permits: number;
  /** Order of the writer that it was before. */
  readonly since: bigint | undefined;
}

const ENTRY = /(shared-lock-|lock-|__WRIT__|__READ__|__lock__|__rlock__|__fast__)(-?\d+)$/;
const READERS: ReadonlySet<string> = new Set(['shared-lock-', '__READ__', '__rlock__']);

/** Returns `undefined` for a name that is not an entry. */
export function namedAs(name: string): Named | undefined {
  const [, mark, number] = ENTRY.exec(name) ?? [];
  if (mark === undefined) return undefined;
  const since = /-since([\da-f]+)-/.exec(name)?.[1];
  return {
    number: Number(number),
    shared: READERS.has(mark),
    permits: Number(/-(\d+)of\d+-/.exec(name)?.[1] ?? 1),
    since: since === undefined ? undefined : BigInt(`0x${since}`),
  };
}
