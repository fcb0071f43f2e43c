/** An entry as its name tells, written down here once more: what is looked at is not asked how to read it. */
export interface Named {
  readonly number: number;
  readonly shared: boolean;
  readonly permits: number;
  /** Of the writer that it was. */
  readonly since: bigint | undefined;
}

const ENTRY = /(shared-lock-|lock-|__WRIT__|__READ__|__lock__|__rlock__|__fast__)(-?\d+)$/;
const READERS: ReadonlySet<string> = new Set(['shared-lock-', '__READ__', '__rlock__']);

/** Nothing for what is no entry. */
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
