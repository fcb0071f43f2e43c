// Preloaded by clock.test.ts: a runtime whose clock begins near 0 in each process.
const { hrtime } = process;
const shown = hrtime.bigint.bind(hrtime);
const origin = shown();
hrtime.bigint = () => shown() - origin;
