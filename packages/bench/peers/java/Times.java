import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/** Times in nanoseconds, one after the other, kept without boxes. */
final class Times {
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private long[] kept = new long[1_024];
  private int size;

  void add(long nanos) {
    if (size == kept.length) kept = Arrays.copyOf(kept, size * 2);
    kept[size++] = nanos;
  }

  void addAll(Times others) {
    for (long nanos : others.all()) add(nanos);
  }

  long[] all() {
    return Arrays.copyOf(kept, size);
  }

  /** The processor time of this process so far, the compiler's and the collector's included. */
  static long cpu() {
    return PROCESS.getProcessCpuTime();
  }
}
