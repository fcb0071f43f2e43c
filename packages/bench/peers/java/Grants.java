/** Who was granted what when. A hand-off counts when somebody was waiting as the one before let go. */
final class Grants {
  private static final long SLOW_NANOS = 50_000_000;

  private final Times times = new Times();
  private final int uncounted;
  private int count;
  private int last = -1;
  private int sameTwice;
  private int waiting;
  private boolean isContested;
  private long released;

  Grants(int uncounted) {
    this.uncounted = uncounted;
  }

  synchronized void requesting() {
    waiting++;
  }

  synchronized void granted(int id) {
    waiting--;
    if (isContested && count >= uncounted) {
      times.add(System.nanoTime() - released);
      if (id == last) sameTwice++;
    }
    count++;
    last = id;
  }

  synchronized void releasing() {
    isContested = waiting > 0;
    released = System.nanoTime();
  }

  synchronized Result result() {
    long[] all = times.all();
    if (all.length == 0) throw new IllegalArgumentException("no hand-off was counted: give more rounds");
    long total = 0;
    int slow = 0;
    for (long nanos : all) {
      total += nanos;
      if (nanos > SLOW_NANOS) slow++;
    }
    return new Result()
        .time("mean", (double) total / all.length)
        .time("p50", Result.quantile(0.5, all))
        .time("p99", Result.quantile(0.99, all))
        .time("max", Result.quantile(1, all))
        .count("over50ms", slow)
        .count("handoffs", all.length)
        .share("sameTwice", (double) sameTwice / all.length);
  }
}
