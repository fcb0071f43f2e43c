import { QueueLockError, invalidArgument, isQueueLockError } from '../api/errors.ts';

/**
 * Runs the check of a client or pool that the caller handed in, and returns its result. A getter or proxy of that object may throw anything.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for the argument where the check throws something else, and what the check throws otherwise
 */
export function inspectHandedIn<T>(argument: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (isQueueLockError(error)) throw error;
    throw invalidArgument(argument, String(error), 'can be inspected without an error');
  }
}

/** The methods that an object must have, and how the refusal describes it. */
export interface RequiredMethods {
  /** The argument or option that the object was handed in with. */
  readonly argument: string;
  readonly methods: readonly string[];
  /** Describes the object: `a client`. */
  readonly what: string;
  /** Returns the rule that an object without this method breaks. */
  readonly rule: (missing: string) => string;
}

/**
 * Checks that an object has methods, without calling them.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when a method is missing
 */
export function requireMethods(value: unknown, { argument, methods, what, rule }: RequiredMethods): void {
  const isObject = typeof value === 'object' && value !== null;
  const missing = methods.find((method) => !isObject || typeof Reflect.get(value, method) !== 'function');
  if (missing === undefined) return;
  throw invalidArgument(argument, isObject ? `${what} without ${missing}()` : value, rule(missing));
}

/**
 * Returns a function that gives a connection of the caller's client back or closes it, and reports a failure to do so to the listener: timers
 * and events have no caller that could catch it.
 */
export function closing<Args extends readonly unknown[]>(
  close: (...args: Args) => void,
  onFailure: (error: unknown) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      close(...args);
    } catch (error) {
      onFailure(error);
    }
  };
}

/**
 * Returns the error for a reply that no server of the store sends. A client library that was wrapped, mocked or closed may resolve with one
 * without having sent anything, so it proves nothing.
 * @param endpoint the server's address, without user and password
 * @param what the request, for the message
 */
export function unreadableReply(endpoint: string, what: string, reply: unknown): QueueLockError {
  const kind = Array.isArray(reply) ? 'an array' : reply === null ? 'null' : typeof reply;
  const message = `${endpoint}: the client library returned ${kind} that is no reply to ${what}: its outcome is unknown; a wrapper around the library may change or drop replies`;
  return new QueueLockError('UNAVAILABLE', message);
}
