/**
 * Exports `safely` and its error `SafetyViolation` of the conformance suite, for tests that use nothing else
 * of the suite.
 */
export { SafetyViolation, safely } from '@queuelock/conformance';
