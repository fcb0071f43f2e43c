import { byAge, type StuckEntry } from './deadlock-stuck.ts';

/**
 * For each waiting entry whose call chain holds another entry, finds the shortest cycle that contains it.
 * Clients with the same snapshots find the same cycles. Each entry of a cycle is blocked by the entry after
 * it, and the last one by the first. The first entry is the one that joined last, among the waiting entries
 * whose call chains hold another entry of the cycle.
 */
export function circlesOf(stuck: readonly StuckEntry[]): readonly (readonly StuckEntry[])[] {
  const waitsOfChains = new Set(stuck.filter(({ isWaiting }) => !isWaiting).flatMap(({ causes }) => causes));
  const circles = [...waitsOfChains].sort(byAge).map(shortestThrough);
  return circles.filter(({ length }) => length > 0).map(fromYoungest);
}

interface Step {
  readonly at: StuckEntry;
  readonly before?: Step;
}

/**
 * Returns the shortest cycle that begins at `start`, as the list of its entries. Searches breadth-first from
 * each entry to the entries that block it (`causes`). Returns an empty list if there is no cycle.
 */
function shortestThrough(start: StuckEntry): readonly StuckEntry[] {
  const seen = new Set<StuckEntry>();
  const steps: Step[] = [{ at: start }];
  for (const before of steps) {
    for (const at of before.at.causes) {
      if (at === start) return wayTo(before);
      if (!seen.has(at)) steps.push({ at, before });
      seen.add(at);
    }
  }
  return [];
}

function wayTo(last: Step): readonly StuckEntry[] {
  const way: StuckEntry[] = [];
  for (let step: Step | undefined = last; step; step = step.before) way.unshift(step.at);
  return way;
}

function fromYoungest(circle: readonly StuckEntry[]): readonly StuckEntry[] {
  const waitsOfChains = circle.filter(
    ({ isWaiting }, place) => isWaiting && !circle.at(place - 1)?.isWaiting,
  );
  const place = circle.indexOf(waitsOfChains.reduce((a, b) => (byAge(a, b) < 0 ? b : a)));
  return [...circle.slice(place), ...circle.slice(0, place)];
}
