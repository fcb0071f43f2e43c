export { describeBackend } from './describe-backend.ts';
export type { Fact, Need } from './fact.ts';
export { conformanceTitles, facts, factsWithTitles } from './facts.ts';
export type { BackendHarness } from './harness.ts';
export { SafetyViolation, safely } from './safety.ts';
