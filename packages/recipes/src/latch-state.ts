import { invalidArgument } from '@queuelock/core/backend';

/** What is kept of a latch. */
export interface LatchState {
  readonly count: number;
  /** The setting of the count that this one began with. */
  readonly round: string;
  /** The latest operations, so that one whose answer was lost knows that it took effect. The newest last. */
  readonly ops: readonly string[];
}

/** With ids of eleven characters these take 3,500 of the 4,096 bytes that a register holds. */
const KEPT_OPS = 250;

/** @throws {QueueLockError} `INVALID_ARGUMENT` for what no latch wrote. */
export function latchIn(text: string | undefined): LatchState | undefined {
  if (text === undefined) return undefined;
  const state = parse(text);
  if (isLatch(state)) return state;
  throw invalidArgument('the register of the latch', text, 'holds what a latch wrote; remove() empties it');
}

/** A count to begin with, unless one is under way. */
export function set(state: LatchState | undefined, count: number, id: string): LatchState | undefined {
  if (state && (state.count > 0 || state.ops.includes(id))) return state;
  return { count, round: id, ops: noted(state, id) };
}

/** One less, once for each id; 0 stays 0. */
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
    return undefined; // Whoever wrote it, the caller refuses it.
  }
}

function isLatch(value: unknown): value is LatchState {
  const { count, round, ops } = Object(value) as Partial<Record<keyof LatchState, unknown>>;
  return (
    Number.isSafeInteger(count) && (count as number) >= 0 && typeof round === 'string' && Array.isArray(ops)
  );
}
