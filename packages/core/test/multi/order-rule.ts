/** A claim of these names, in the caller's order. */
export interface Wish {
  readonly names: readonly string[];
  readonly shared: boolean;
}

/** How the entries of a claim are made: all at once, or one by one in the caller's order, with or without waiting for each. */
export type Entering = 'at one point' | 'one by one' | 'one by one without waiting';

/** The queues by name, as lists of claim numbers, and how many of its names each claim has entered. */
interface State {
  readonly queues: ReadonlyMap<string, readonly number[]>;
  readonly entered: readonly number[];
  readonly done: readonly boolean[];
}

/**
 * Explores all possible states by the rule of the queues alone. Returns whether any path leads to a cycle of waits, and to a standstill.
 */
export function explore(
  wishes: readonly Wish[],
  entering: Entering,
): { readonly circle: boolean; readonly standstill: boolean; readonly states: number } {
  const start: State = {
    queues: new Map(),
    entered: wishes.map(() => 0),
    done: wishes.map(() => false),
  };
  const seen = new Set([keyOf(start)]);
  let circle = false;
  let standstill = false;
  const open: State[] = [start];
  for (let state = open.pop(); state; state = open.pop()) {
    circle ||= hasCircle(state, wishes);
    const next = stepsFrom(state, wishes, entering);
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
  const lines = [...queues].sort().map(([name, line]) => `${name}:${line.join()}`);
  return [...lines, entered.join(), done.join()].join(' ');
}

function stepsFrom(state: State, wishes: readonly Wish[], entering: Entering): readonly State[] {
  return wishes.flatMap((wish, who) => {
    if (state.done[who]) return [];
    const left = wish.names.length - state.entered[who]!;
    const waits = waitsFor(state, wishes, who).length > 0;
    if (left === 0) return waits ? [] : [leave(state, who)];
    if (entering === 'at one point') return [enter(state, { who, wish, count: left })];
    if (entering === 'one by one' && waits) return [];
    return [enter(state, { who, wish, count: 1 })];
  });
}

function enter(state: State, { who, wish, count }: { who: number; wish: Wish; count: number }): State {
  const queues = new Map(state.queues);
  const from = state.entered[who]!;
  for (const name of wish.names.slice(from, from + count))
    queues.set(name, [...(queues.get(name) ?? []), who]);
  return { ...state, queues, entered: state.entered.with(who, from + count) };
}

function leave(state: State, who: number): State {
  const queues = [...state.queues].map(([name, line]) => [name, line.filter((one) => one !== who)] as const);
  return { ...state, queues: new Map(queues), done: state.done.with(who, true) };
}

/** Returns the conflicting claims ahead of it in any queue. */
function waitsFor({ queues }: State, wishes: readonly Wish[], who: number): readonly number[] {
  const own = wishes[who]!;
  return [...queues.values()].flatMap((line) =>
    line.includes(who)
      ? line.slice(0, line.indexOf(who)).filter((one) => !(own.shared && wishes[one]!.shared))
      : [],
  );
}

function hasCircle(state: State, wishes: readonly Wish[]): boolean {
  return wishes.some((_, who) => {
    const reached = new Set(waitsFor(state, wishes, who));
    for (const one of reached) for (const further of waitsFor(state, wishes, one)) reached.add(further);
    return reached.has(who);
  });
}

/** Returns all ordered choices of names, for readers and for writers. */
export function allWishes(names: readonly string[]): readonly Wish[] {
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

/** Returns all combinations with repetition of that size. */
export function combinations<T>(items: readonly T[], count: number): readonly (readonly T[])[] {
  if (count === 0) return [[]];
  return items.flatMap((item, at) => combinations(items.slice(at), count - 1).map((rest) => [item, ...rest]));
}

/** Returns whether two or three writers want shared names in incompatible orders. */
export function crosses(wishes: readonly Wish[]): boolean {
  const before = (a: string, b: string): readonly number[] =>
    wishes.flatMap(({ names }, who) =>
      names.includes(b) && names.indexOf(a) > -1 && names.indexOf(a) < names.indexOf(b) ? [who] : [],
    );
  const names = [...new Set(wishes.flatMap((wish) => wish.names))];
  // A cycle of names in which each name comes before the next one for a different claim.
  const walk = (path: readonly string[], walkers: readonly number[]): boolean =>
    names.some((next) => {
      const takers = before(path.at(-1)!, next).filter((who) => !walkers.includes(who));
      if (next === path[0]) return path.length > 1 && takers.length > 0;
      return !path.includes(next) && takers.some((who) => walk([...path, next], [...walkers, who]));
    });
  return names.some((name) => walk([name], []));
}
