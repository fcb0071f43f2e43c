import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.StandardLockInternalsDriver;

/** What a user of Curator passes to InterProcessMutex to stand in line with kazoo. */
final class TaughtDriver extends StandardLockInternalsDriver {
  private final String writes;
  private final List<String> reads;

  private TaughtDriver(String writes, List<String> reads) {
    this.writes = writes;
    this.reads = reads;
  }

  /** Curator's own names, and an eye on kazoo's. */
  static TaughtDriver both() {
    return new TaughtDriver("lock-", List.of("lock-", "__lock__"));
  }

  /** kazoo's names. */
  static TaughtDriver kazoo() {
    return new TaughtDriver("__lock__", List.of("__lock__"));
  }

  @Override
  public String createsTheLock(CuratorFramework client, String path, byte[] data) throws Exception {
    return super.createsTheLock(client, path.replaceAll("lock-$", writes), data);
  }

  /** A child without one of the names is no contender: it sorts behind all numbers. */
  @Override
  public String fixForSorting(String child, String unused) {
    for (String name : reads) {
      int at = child.lastIndexOf(name);
      if (at >= 0) return child.substring(at + name.length());
    }
    return "~" + child;
  }
}
