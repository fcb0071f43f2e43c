// Mocha's spec report; at its end the parent process (test.ts) gets the counts.
import Mocha from 'mocha';

const { EVENT_RUN_END, EVENT_TEST_END, EVENT_TEST_PENDING } = Mocha.Runner.constants;
const CONFORMANCE = ' is a queuelock backend';

// A process that is alive this long after its last test is kept by a leaked handle; test.ts kills it a little later.
const NAME_LEAKS_AFTER_MS = 25_000;

// A test or a hook that skips says why: this.skipReason = '...'; this.skip(); and `it.skip` cannot: it has no body.
function reasonOf(test) {
  return (test.fn && test.ctx.skipReason) || 'no reason given';
}

export default class SummarySpec extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const skipped = [];
    runner.on(EVENT_TEST_PENDING, (test) => {
      skipped.push({ title: test.fullTitle(), reason: reasonOf(test) });
    });
    const conformance = [];
    runner.on(EVENT_TEST_END, ({ title, parent, state }) => {
      if (!parent.title.endsWith(CONFORMANCE)) return;
      const backend = parent.title.slice(0, -CONFORMANCE.length).replace(/,$/, '');
      conformance.push({ backend, title, state: state ?? 'skipped' });
    });
    runner.once(EVENT_RUN_END, () => {
      process.send?.({ passed: this.stats.passes, failed: this.stats.failures, skipped, conformance });
      setTimeout(() => {
        console.error('still open:', process.getActiveResourcesInfo().join(', '));
      }, NAME_LEAKS_AFTER_MS).unref();
    });
  }
}
