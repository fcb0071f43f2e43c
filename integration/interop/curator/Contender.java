import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Contenders of Apache Curator, each in a thread with a session of its own. Prints one JSON object for each round: when it
 * asked, held and released (nanoseconds of the day's time), its node, and the node's creation transaction.
 *
 * Arguments: host:port, path, contenders, rounds.
 */
public final class Contender extends InterProcessMutex {
  private Contender(CuratorFramework client, String path) {
    super(client, path);
  }

  public static void main(String[] args) throws Exception {
    String path = args[1];
    int contenders = Integer.parseInt(args[2]);
    int rounds = Integer.parseInt(args[3]);
    List<Thread> threads = new ArrayList<>();
    for (int i = 1; i <= contenders; i++) {
      String id = "curator-" + i;
      Thread thread = new Thread(() -> contend(args[0], path, id, rounds));
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) thread.join();
  }

  private static void contend(String server, String path, String id, int rounds) {
    try (CuratorFramework client =
        CuratorFrameworkFactory.newClient(server, 10_000, 10_000, new ExponentialBackoffRetry(100, 5))) {
      client.start();
      client.blockUntilConnected();
      Contender mutex = new Contender(client, path);
      for (int n = 1; n <= rounds; n++) mutex.round(client, id, n);
    } catch (Exception failure) {
      failure.printStackTrace();
      System.exit(1);
    }
  }

  private void round(CuratorFramework client, String id, int n) throws Exception {
    String requesting = now();
    acquire();
    String acquired = now();
    String key = getLockPath();
    long zxid = client.checkExists().forPath(key).getCzxid();
    String released = now();
    release();
    System.out.println(
        String.format(
            "{\"id\":\"%s\",\"n\":%d,\"key\":\"%s\",\"zxid\":\"%d\",\"requesting\":\"%s\",\"acquired\":\"%s\",\"released\":\"%s\"}",
            id, n, key, zxid, requesting, acquired, released));
  }

  private static String now() {
    Instant now = Instant.now();
    return String.valueOf(now.getEpochSecond() * 1_000_000_000L + now.getNano());
  }
}
