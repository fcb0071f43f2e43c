/** A promise about exclusion, order or tokens does not hold. Whoever runs failed tests a second time never does so with this. */
export class SafetyViolation extends Error {
  override readonly name = 'SafetyViolation';
}

/** Answers what the assertion answers; what it throws is thrown as a `SafetyViolation` that says the same. */
export function safely<T>(assert: () => T): T {
  try {
    return assert();
  } catch (cause) {
    throw new SafetyViolation(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
