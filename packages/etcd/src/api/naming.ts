import { invalidArgument } from '@queuelock/core/backend';

/**
 * How the entries of a queue are named:
 *
 * - `go`: `NAME/<lease>-<id>`, as Go's clients name theirs.
 * - `fast`: `NAME/~<length of the prefix>.<lease>-<id>`, with a tail that tells the last one: for exclusive locks, where entering a long line costs no more
 *   than entering a short one.
 *
 * Both, and Go's clients, stand in one line.
 */
export type Naming = 'go' | 'fast';

/** That of a queue. Throws `INVALID_ARGUMENT` where a user's function answers none. */
export type NamingOf = (queue: string) => Naming;

/** The one key that clients without queues lock for a queue; none if there are no such clients. */
export type SingleKeyOf = (queue: string) => string | undefined;

const NAMINGS: readonly Naming[] = ['go', 'fast'];

/** What the option says. Throws `INVALID_ARGUMENT` for a naming that there is not. */
export function namingsOf(naming: Naming | NamingOf = 'go'): NamingOf {
  if (typeof naming === 'function')
    return (queue) => checked(naming(queue), `naming(${JSON.stringify(queue)})`);
  const same = checked(naming, 'naming');
  return () => same;
}

function checked(naming: Naming, what: string): Naming {
  if (NAMINGS.includes(naming)) return naming;
  throw invalidArgument(what, naming, `is one of ${NAMINGS.join(', ')}`);
}
