import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.data.Stat;

/**
 * A participant of a ZooKeeper queue, with Apache Curator: Participant ENDPOINT NAME RECIPE ID ROUNDS HOLD_MS [TTL_MS]. See
 * ../../protocol.ts.
 */
public final class Participant {
  private static final String END = "end";
  private static final String LOST = "lost";

  private final CuratorFramework client;
  private final String path;
  private final String recipe;
  private final String id;
  private final int rounds;
  private final long holdMs;
  /** Lines of the standard input, and {@code END} or {@code LOST}. */
  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
  private volatile boolean ended;
  private volatile boolean lost;
  private int n;

  private Participant(String... args) {
    path = "/" + args[1];
    recipe = args[2];
    id = args[3];
    rounds = Integer.parseInt(args[4]);
    holdMs = Long.parseLong(args[5]);
    int ttlMs = args.length > 6 ? Integer.parseInt(args[6]) : 10_000;
    client = CuratorFrameworkFactory.newClient(args[0], ttlMs, 10_000, new ExponentialBackoffRetry(100, 5));
    client.getConnectionStateListenable().addListener((unused, state) -> heard(state));
  }

  public static void main(String[] args) throws Exception {
    new Participant(args).run();
    System.exit(0);
  }

  private void heard(ConnectionState state) {
    if (state != ConnectionState.LOST) return;
    lost = true;
    told.add(LOST);
  }

  private void run() throws Exception {
    client.start();
    if (!client.blockUntilConnected(20, TimeUnit.SECONDS)) throw new IllegalStateException("not connected");
    try (Recipe lock = Recipe.of(recipe, client, path, id)) {
      Thread reader = new Thread(this::readLines);
      reader.setDaemon(true);
      reader.start();
      say("ready");
      if (told.take().equals(END)) return;
      if (recipe.startsWith("observe-")) {
        observe(lock);
      } else {
        while (!ended && (rounds == 0 || n < rounds)) round(lock);
      }
      n = 0;
      say("done");
    }
    client.close();
  }

  private void readLines() {
    try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in))) {
      for (String line = input.readLine(); line != null; line = input.readLine()) told.add(line);
    } catch (java.io.IOException failure) {
      failure.printStackTrace();
    }
    ended = true;
    told.add(END);
  }

  private void round(Recipe lock) {
    n += 1;
    say("requesting");
    try {
      String node = lock.enter();
      lost = false;
      Stat created = client.checkExists().forPath(node);
      if (created == null) throw new IllegalStateException("the session expired while it was granted");
      // Of the order nothing is known but the name; the last ten digits are the server's.
      String order = node.substring(node.length() - 10);
      say("acquired", "order", order, "token", String.valueOf(created.getCzxid()), "key", node);
      boolean isLost = hold();
      say(isLost ? "lost" : "releasing");
      lock.leave();
      if (!isLost) say("released");
    } catch (Exception failure) {
      say("failed", "message", failure.toString());
    }
  }

  /** Whether it ended because of the loss. */
  private boolean hold() throws InterruptedException {
    long until = System.nanoTime() + holdMs * 1_000_000;
    while (!lost) {
      String line = holdMs < 0 ? told.take() : told.poll(until - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (line == null || line.equals(END) || (holdMs < 0 && !line.equals(LOST))) break;
    }
    return lost;
  }

  /** Curator tells who leads when it is asked; there is nothing to listen to. */
  private void observe(Recipe election) throws Exception {
    say("observing");
    for (String before = ""; !ended; TimeUnit.MILLISECONDS.sleep(20)) {
      String leader = election.leader();
      if (!leader.equals(before)) say("leader", "value", leader);
      before = leader;
    }
  }

  private synchronized void say(String ev, String... fields) {
    StringBuilder line = new StringBuilder();
    line.append(String.format("{\"t\":\"%d\",\"id\":\"%s\",\"ev\":\"%s\",\"n\":%d", System.nanoTime(), id, ev, n));
    for (int i = 0; i < fields.length; i += 2) {
      String value = fields[i + 1].replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", " ");
      line.append(String.format(",\"%s\":\"%s\"", fields[i], value));
    }
    System.out.println(line.append('}'));
  }
}
