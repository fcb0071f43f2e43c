import { invalidArgument } from '@queuelock/core/backend';

/** The stored state of a latch. */
export interface LatchState {
  readonly count: number;
  /**
   * Id of the operation that set this count. Each new count has another id, so the id identifies the round
   * (the time from a set count to 0).
   */
  readonly round: string;
  /**
   * Ids of the latest operations, the newest one last. A client whose reply was lost finds the id of its
   * operation here if the operation took effect.
   */
  readonly ops: readonly string[];
}

/**
 * Number of operation ids that are kept. With eleven characters each, they take 3,500 of the 4,096 bytes that
 * a register holds.
 */
const KEPT_OPS = 250;

/**
 * Reads the state from the text of its register.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a text that no latch wrote
 */
export function latchIn(text: string | undefined): LatchState | undefined {
  if (text === undefined) return undefined;
  const state = parse(text);
  if (isLatch(state)) return state;
  throw invalidArgument('the register of the latch', text, 'contains what a latch wrote; remove() clears it');
}

/**
 * Sets the count, except when the present count is above 0. An operation that has already taken effect
 * changes nothing.
 */
export function set(state: LatchState | undefined, count: number, id: string): LatchState | undefined {
  if (state && (state.count > 0 || state.ops.includes(id))) return state;
  return { count, round: id, ops: noted(state, id) };
}

/**
 * Reduces the count by one, to no less than 0. An operation whose id is in `ops` has already taken effect and
 * changes nothing.
 */
export function countedDown(state: LatchState, id: string): LatchState {
  if (state.count === 0 || state.ops.includes(id)) return state;
  return { ...state, count: state.count - 1, ops: noted(state, id) };
}

function noted(state: LatchState | undefined, id: string): readonly string[] {
  return [...(state?.ops ?? []), id].slice(-KEPT_OPS);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The text is not JSON. `latchIn` then throws, because no latch wrote it.
  }
}

function isLatch(value: unknown): value is LatchState {
  const { count, round, ops } = Object(value) as Partial<Record<keyof LatchState, unknown>>;
  return (
    Number.isSafeInteger(count) && (count as number) >= 0 && typeof round === 'string' && Array.isArray(ops)
  );
}
