import java.util.List;

/** Loops that run at once. */
final class Repeat {
  /** Hot code of the Java machine is compiled after some thousands of calls; before that it measures the interpreter. */
  private static final int WARM_AT_LEAST = 3_000;

  private Repeat() {}

  /** One round of a loop. */
  interface Cycle {
    /** Answers with how long its first call took, and how long all that counts of it. */
    Took once() throws Exception;
  }

  static final class Took {
    final long first;
    final long whole;

    Took(long first, long whole) {
      this.first = first;
      this.whole = whole;
    }
  }

  private interface Going {
    boolean on(int done);
  }

  private static final class Tally {
    final Times firsts = new Times();
    final Times wholes = new Times();
  }

  /** First some cycles of each that do not count, then for as long as the window. */
  static Result run(Plan plan, List<Cycle> loops) throws Exception {
    long window = plan.windowNanos();
    int warm = Math.max(plan.number("warm", 0, 0), (WARM_AT_LEAST + loops.size() - 1) / loops.size());
    together(loops, done -> done < warm);
    long cpu = Times.cpu();
    long start = System.nanoTime();
    Tally all = together(loops, done -> System.nanoTime() - start < window);
    long took = System.nanoTime() - start;
    long[] wholes = all.wholes.all();
    return new Result()
        .count("cycles", wholes.length)
        .count("warmed", (long) warm * loops.size())
        .time("p50", Result.quantile(0.5, wholes))
        .time("p99", Result.quantile(0.99, wholes))
        .number("perSecond", wholes.length * 1e9 / took)
        .time("clientCpu", (double) (Times.cpu() - cpu) / wholes.length)
        .time("acquireP50", Result.quantile(0.5, all.firsts.all()));
  }

  private static Tally together(List<Cycle> loops, Going going) throws Exception {
    Tally all = new Tally();
    Crew crew = new Crew();
    for (Cycle loop : loops) {
      crew.start(
          () -> {
            Tally mine = new Tally();
            for (int done = 0; going.on(done); done++) {
              Took took = loop.once();
              mine.firsts.add(took.first);
              mine.wholes.add(took.whole);
            }
            synchronized (all) {
              all.firsts.addAll(mine.firsts);
              all.wholes.addAll(mine.wholes);
            }
          });
    }
    crew.join();
    return all;
  }
}
