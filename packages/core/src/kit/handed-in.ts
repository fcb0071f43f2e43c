import { QueueLockError, invalidArgument, isQueueLockError } from '../api/errors.ts';

/**
 * Checks a client or pool that the caller has passed in, and returns the result of the check. A getter or proxy of that object may throw any error.
 * @throws {QueueLockError} the `QueueLockError` of the check; `INVALID_ARGUMENT` when the check throws any other error
 */
export function inspectHandedIn<T>(argument: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (isQueueLockError(error)) throw error;
    throw invalidArgument(argument, String(error), 'can be inspected without an error');
  }
}

/** Methods that an object of the caller must have, and the texts for the error if one is missing. */
export interface RequiredMethods {
  /** Name of the argument or option that contains the object. */
  readonly argument: string;
  readonly methods: readonly string[];
  /** Noun for the object in the message, such as `a client`. */
  readonly what: string;
  /** Returns the rule for the argument. The error message contains it when the object lacks the method `missing`. */
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
 * Wraps `close`, a function that gives back or closes a connection of the caller's client. The wrapped function passes an error to `onFailure` and
 * does not throw, because timers and events have no caller that could catch it.
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
 * Creates the error for a reply that no server of the store sends. A client library that was wrapped, mocked or closed may resolve with such a reply
 * without having sent a request. So the reply proves nothing about the outcome of the request.
 * @param endpoint the server's address, without user and password
 * @param what the request, for the message
 */
export function unreadableReply(endpoint: string, what: string, reply: unknown): QueueLockError {
  const kind = Array.isArray(reply) ? 'an array' : reply === null ? 'null' : typeof reply;
  const message = `${endpoint}: the client library returned ${kind} that is no reply to ${what}: its outcome is unknown; a wrapper around the library may change or drop replies`;
  return new QueueLockError('UNAVAILABLE', message);
}
