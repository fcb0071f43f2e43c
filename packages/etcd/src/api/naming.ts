import { invalidArgument, optionOfQueue } from '@queuelock/core/backend';

/**
 * How the keys of a queue's entries are named:
 *
 * - `go`: `NAME/<lease>-<id>`, as Go's clients name theirs.
 * - `fast`: `NAME/~<length of the prefix>.<lease>-<id>`, with a tail key that names the newest entry. It is for exclusive locks, and the cost of
 *   entering does not grow with the queue.
 *
 * Entries of both namings and of Go's clients share one queue.
 */
export type Naming = 'go' | 'fast';

/** Returns the naming of a queue. Throws `INVALID_ARGUMENT` if a user's function returns another value. */
export type NamingOf = (queue: string) => Naming;

/** Returns the single key that serves as the lock for other clients, which use no queue, or `undefined` if no such clients use this lock. */
export type SingleKeyOf = (queue: string) => string | undefined;

const NAMINGS: readonly Naming[] = ['go', 'fast'];

/** Converts the option `naming` to a function. Throws `INVALID_ARGUMENT` for an unknown naming. */
export function namingsOf(naming: Naming | NamingOf = 'go'): NamingOf {
  if (typeof naming === 'function') {
    const namingOf = optionOfQueue('naming', naming);
    return (queue) => checked(namingOf(queue), `naming(${JSON.stringify(queue)})`);
  }
  const same = checked(naming, 'naming');
  return () => same;
}

function checked(naming: Naming, what: string): Naming {
  if (NAMINGS.includes(naming)) return naming;
  throw invalidArgument(what, naming, `is one of ${NAMINGS.join(', ')}`);
}
