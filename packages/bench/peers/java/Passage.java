/** The times from each release call until the next one knows, of a line that all pass without stopping. */
final class Passage {
  private final Times times = new Times();
  private long cpu;
  private long released;

  synchronized void begin() {
    cpu = Times.cpu();
    released = System.nanoTime();
  }

  /** To be called by whoever knows that it is its turn, before it lets the next one go. */
  synchronized void pass() {
    long now = System.nanoTime();
    times.add(now - released);
    released = now;
  }

  synchronized Result result(long enqueueNanos) {
    long[] all = times.all();
    long total = 0;
    for (long nanos : all) total += nanos;
    return new Result()
        .time("p50", Result.quantile(0.5, all))
        .time("p99", Result.quantile(0.99, all))
        .number("totalMs", total / 1e6)
        .number("enqueueMs", enqueueNanos / 1e6)
        .time("clientCpu", (double) (Times.cpu() - cpu) / all.length);
  }
}
