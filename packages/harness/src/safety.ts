/** For the tests of packages that have nothing else to do with the suite for backends. */
export { SafetyViolation, safely } from '@queuelock/conformance';
