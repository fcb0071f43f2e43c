/** Exports two names of the conformance suite for tests that need nothing else of it. */
export { SafetyViolation, safely } from '@queuelock/conformance';
