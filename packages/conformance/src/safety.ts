/**
 * An error about mutual exclusion, order or tokens. A test runner that repeats failed tests must not repeat a
 * test after this error.
 */
export class SafetyViolation extends Error {
  override readonly name = 'SafetyViolation';
}

/** Returns the result of the assertion; throws its error as a `SafetyViolation` with the same message. */
export function safely<T>(assert: () => T): T {
  try {
    return assert();
  } catch (cause) {
    throw new SafetyViolation(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
