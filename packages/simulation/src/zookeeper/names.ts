/**
 * The parsed name of an entry. The simulation has a parser of its own, so that it detects a defect in the
 * product's parser.
 */
export interface Named {
  readonly number: number;
  readonly shared: boolean;
  readonly permits: number;
  /** For a reader that was converted from a writer: the fencing token of that writer's entry. */
  readonly since: bigint | undefined;
}

const ENTRY = /(shared-lock-|lock-|__WRIT__|__READ__|__lock__|__rlock__|__fast__)(-?\d+)$/;
const READERS: ReadonlySet<string> = new Set(['shared-lock-', '__READ__', '__rlock__']);

/** Parses a node name. Returns `undefined` for a name that is not an entry's. */
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
