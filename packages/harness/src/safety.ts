/** Exports these names for tests of packages that use nothing else of the conformance suite. */
export { SafetyViolation, safely } from '@queuelock/conformance';
