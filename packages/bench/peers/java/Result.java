import java.util.Arrays;
import java.util.Locale;
import java.util.StringJoiner;

/** One line of JSON; times go in as nanoseconds and come out as microseconds. */
final class Result {
  private final StringJoiner fields = new StringJoiner(",", "{", "}");

  Result count(String name, long value) {
    return put(name, String.valueOf(value));
  }

  Result time(String name, double nanos) {
    return number(name, nanos / 1_000);
  }

  Result number(String name, double value) {
    return put(name, String.format(Locale.ROOT, "%.1f", value));
  }

  Result share(String name, double value) {
    return put(name, String.format(Locale.ROOT, "%.4f", value));
  }

  private Result put(String name, String json) {
    fields.add("\"" + name + "\":" + json);
    return this;
  }

  @Override
  public String toString() {
    return fields.toString();
  }

  /** The smallest of them that at least this share does not exceed; 0 of none. */
  static long quantile(double share, long[] times) {
    if (times.length == 0) return 0;
    long[] sorted = times.clone();
    Arrays.sort(sorted);
    return sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
  }
}
