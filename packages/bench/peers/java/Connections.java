import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** Ways to the server. */
final class Connections {
  // Longer than any pause of a busy machine.
  private static final int SESSION_MS = 60_000;
  private static final int WITHIN_SECONDS = 20;
  private static final long WATCHED_WITHIN_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final Pattern WATCHES = Pattern.compile("Total watches:(\\d+)");

  private Connections() {}

  static CuratorFramework curator(String endpoint) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(
            endpoint, SESSION_MS, WITHIN_SECONDS * 1_000, new ExponentialBackoffRetry(100, 5));
    client.start();
    if (!client.blockUntilConnected(WITHIN_SECONDS, TimeUnit.SECONDS)) {
      throw new IOException("ZooKeeper on " + endpoint + " does not answer");
    }
    return client;
  }

  static ZooKeeper raw(String endpoint) throws Exception {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper client =
        new ZooKeeper(
            endpoint,
            SESSION_MS,
            event -> {
              if (event.getState() == Watcher.Event.KeeperState.SyncConnected) connected.countDown();
            });
    if (!connected.await(WITHIN_SECONDS, TimeUnit.SECONDS)) {
      throw new IOException("ZooKeeper on " + endpoint + " does not answer");
    }
    return client;
  }

  /** How many watches the server keeps, for all clients. */
  static int watches(String endpoint) throws IOException {
    int colon = endpoint.lastIndexOf(':');
    int port = Integer.parseInt(endpoint.substring(colon + 1));
    try (Socket socket = new Socket(InetAddress.getByName(endpoint.substring(0, colon)), port)) {
      socket.getOutputStream().write("wchs".getBytes(StandardCharsets.US_ASCII));
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher found = WATCHES.matcher(answer);
      if (found.find()) return Integer.parseInt(found.group(1));
      throw new IOException("ZooKeeper on " + endpoint + " answers to wchs: " + answer.trim());
    }
  }

  /** Returns when the server keeps so many watches; throws early when one of the crew has failed. */
  static void awaitWatches(String endpoint, int count, Crew crew) throws Exception {
    // The server goes through all of them to count them.
    int pauseMs = 2 + count / 100;
    long start = System.nanoTime();
    while (watches(endpoint) < count) {
      crew.check();
      if (System.nanoTime() - start > WATCHED_WITHIN_NANOS) {
        throw new IOException("ZooKeeper on " + endpoint + " has no " + count + " watches after 5 minutes");
      }
      TimeUnit.MILLISECONDS.sleep(pauseMs);
    }
  }
}
