/** A claim of several names, in the order in which the caller gave them. */
export interface NameClaim {
  readonly names: readonly string[];
  readonly shared: boolean;
}

/**
 * How a claim enters its queues: all in one step, or one by one in the caller's order. With `one by one`, the
 * claim waits for each lock before it enters the next queue. With `one by one without waiting`, it enters all
 * queues and then waits for all locks.
 */
export type Entering = 'at one point' | 'one by one' | 'one by one without waiting';

/**
 * A state of the exploration: the indexes of the claims in each queue, the number of queues that each claim
 * has entered, and whether each claim has left its queues.
 */
interface State {
  readonly queues: ReadonlyMap<string, readonly number[]>;
  readonly entered: readonly number[];
  readonly done: readonly boolean[];
}

/**
 * Explores all states that the given claims can reach, and returns their number. `circle` is true if in any
 * state a cycle of claims waits for each other, and `standstill` if in any state no claim can continue.
 */
export function explore(
  claims: readonly NameClaim[],
  entering: Entering,
): { readonly circle: boolean; readonly standstill: boolean; readonly states: number } {
  const start: State = {
    queues: new Map(),
    entered: claims.map(() => 0),
    done: claims.map(() => false),
  };
  const seen = new Set([keyOf(start)]);
  let circle = false;
  let standstill = false;
  const open: State[] = [start];
  for (let state = open.pop(); state; state = open.pop()) {
    circle ||= hasCircle(state, claims);
    const next = stepsFrom(state, claims, entering);
    standstill ||= next.length === 0 && state.done.includes(false);
    for (const one of next) {
      const key = keyOf(one);
      if (!seen.has(key)) open.push(one);
      seen.add(key);
    }
  }
  return { circle, standstill, states: seen.size };
}

function keyOf({ queues, entered, done }: State): string {
  const lines = [...queues].sort().map(([name, queue]) => `${name}:${queue.join()}`);
  return [...lines, entered.join(), done.join()].join(' ');
}

function stepsFrom(state: State, claims: readonly NameClaim[], entering: Entering): readonly State[] {
  return claims.flatMap((claim, index) => {
    if (state.done[index]) return [];
    const left = claim.names.length - state.entered[index]!;
    const waits = waitsFor(state, claims, index).length > 0;
    if (left === 0) return waits ? [] : [leave(state, index)];
    if (entering === 'at one point') return [enter(state, { index, claim, count: left })];
    if (entering === 'one by one' && waits) return [];
    return [enter(state, { index, claim, count: 1 })];
  });
}

function enter(
  state: State,
  { index, claim, count }: { index: number; claim: NameClaim; count: number },
): State {
  const queues = new Map(state.queues);
  const from = state.entered[index]!;
  for (const name of claim.names.slice(from, from + count))
    queues.set(name, [...(queues.get(name) ?? []), index]);
  return { ...state, queues, entered: state.entered.with(index, from + count) };
}

function leave(state: State, index: number): State {
  const queues = [...state.queues].map(
    ([name, queue]) => [name, queue.filter((one) => one !== index)] as const,
  );
  return { ...state, queues: new Map(queues), done: state.done.with(index, true) };
}

/**
 * Returns the indexes of the claims for which the claim at `index` waits: the conflicting claims ahead of it
 * in any queue.
 */
function waitsFor({ queues }: State, claims: readonly NameClaim[], index: number): readonly number[] {
  const own = claims[index]!;
  return [...queues.values()].flatMap((queue) =>
    queue.includes(index)
      ? queue.slice(0, queue.indexOf(index)).filter((one) => !(own.shared && claims[one]!.shared))
      : [],
  );
}

function hasCircle(state: State, claims: readonly NameClaim[]): boolean {
  return claims.some((_, index) => {
    const reached = new Set(waitsFor(state, claims, index));
    for (const one of reached) for (const further of waitsFor(state, claims, one)) reached.add(further);
    return reached.has(index);
  });
}

/**
 * Returns all claims of one or more of the given names in every order, each once as a reader and once as a
 * writer.
 */
export function allClaims(names: readonly string[]): readonly NameClaim[] {
  return choices(names).flatMap((chosen) => [
    { names: chosen, shared: false },
    { names: chosen, shared: true },
  ]);
}

function choices(names: readonly string[]): readonly (readonly string[])[] {
  return names.flatMap((first) => {
    const rest = names.filter((name) => name !== first);
    return [[first], ...choices(rest).map((others) => [first, ...others])];
  });
}

/** Returns all groups of `count` items, in which an item may occur several times. */
export function combinations<T>(items: readonly T[], count: number): readonly (readonly T[])[] {
  if (count === 0) return [[]];
  return items.flatMap((item, at) => combinations(items.slice(at), count - 1).map((rest) => [item, ...rest]));
}

/**
 * Returns whether the claims list their names in contradictory orders. For example, one claim lists `x` before
 * `y`, and another `y` before `x`. Three claims may also form such a cycle.
 */
export function crosses(claims: readonly NameClaim[]): boolean {
  const before = (a: string, b: string): readonly number[] =>
    claims.flatMap(({ names }, index) =>
      names.includes(b) && names.indexOf(a) > -1 && names.indexOf(a) < names.indexOf(b) ? [index] : [],
    );
  const names = [...new Set(claims.flatMap((spec) => spec.names))];
  // Searches for a cycle of names, in which each name is listed before the next one by a different claim.
  const walk = (path: readonly string[], walkers: readonly number[]): boolean =>
    names.some((next) => {
      const takers = before(path.at(-1)!, next).filter((index) => !walkers.includes(index));
      if (next === path[0]) return path.length > 1 && takers.length > 0;
      return !path.includes(next) && takers.some((index) => walk([...path, next], [...walkers, index]));
    });
  return names.some((name) => walk([name], []));
}
