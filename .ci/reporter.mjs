// A mocha reporter that prints mocha's spec report, and at the end sends the outcome to the parent process
// (test.ts).
import { relative } from 'node:path';
import Mocha from 'mocha';

const {
  EVENT_RUN_END,
  EVENT_SUITE_BEGIN,
  EVENT_SUITE_END,
  EVENT_TEST_END,
  EVENT_TEST_FAIL,
  EVENT_TEST_PASS,
  EVENT_TEST_PENDING,
} = Mocha.Runner.constants;
const CONFORMANCE = ' is a queuelock backend';

// If the process is still alive after this time in milliseconds, a leaked handle keeps it alive. mocha-run.ts
// kills it a little later.
const NAME_LEAKS_AFTER_MS = 25_000;

// Returns why a test or hook was skipped. It has to set `this.skipReason` before `this.skip()`. A test
// declared with `it.skip` has no body and so no reason.
function reasonOf(test) {
  return (test.fn && test.ctx.skipReason) || 'no reason given';
}

/** Returns the open resources of the process by type, for instance `12 Timeout, 3 PipeWrap`. */
function openResources() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
}

function nameOf(test) {
  return { file: test.file ? relative(process.cwd(), test.file) : '', title: test.fullTitle() };
}

/** Returns whether an error or one of its causes is a `SafetyViolation`. */
function isUnsafe(error, depth = 0) {
  if (typeof error !== 'object' || error === null || depth > 10) return false;
  const inner = [error.cause, ...(Array.isArray(error.errors) ? error.errors : [])];
  return error.name === 'SafetyViolation' || inner.some((one) => isUnsafe(one, depth + 1));
}

export default class SummarySpec extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const outcome = { passed: [], failures: [], skipped: [], conformance: [], took: [] };
    const begun = new Map();
    runner.on(EVENT_SUITE_BEGIN, (suite) => {
      if (suite.parent?.root) begun.set(suite, performance.now());
    });
    runner.on(EVENT_SUITE_END, (suite) => {
      if (begun.has(suite))
        outcome.took.push({ file: nameOf(suite).file, ms: performance.now() - begun.get(suite) });
    });
    runner.on(EVENT_TEST_PASS, (test) => {
      outcome.passed.push(nameOf(test));
    });
    runner.on(EVENT_TEST_PENDING, (test) => {
      outcome.skipped.push({ ...nameOf(test), reason: reasonOf(test) });
    });
    runner.on(EVENT_TEST_FAIL, (test, error) => {
      const failure = { ...nameOf(test), cause: String(error?.stack ?? error), isUnsafe: isUnsafe(error) };
      const suite = test.type === 'hook' ? { suite: test.parent.fullTitle() } : {};
      outcome.failures.push({ ...failure, ...suite });
    });
    runner.on(EVENT_TEST_END, ({ title, parent, state }) => {
      if (!parent.title.endsWith(CONFORMANCE)) return;
      const backend = parent.title.slice(0, -CONFORMANCE.length).replace(/,$/, '');
      outcome.conformance.push({ backend, title, state: state ?? 'skipped' });
    });
    runner.once(EVENT_RUN_END, () => {
      process.send?.(outcome);
      setTimeout(() => {
        console.error('still open:', openResources());
      }, NAME_LEAKS_AFTER_MS).unref();
    });
  }
}
