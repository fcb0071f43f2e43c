import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** What locks are made of, without a lock: calls of ZooKeeper's own client, a thread for each that is in flight. */
final class Floor {
  private final ZooKeeper client;
  private final String path;

  private Floor(ZooKeeper client, String path) {
    this.client = client;
    this.path = path;
  }

  static Result run(Plan plan) throws Exception {
    int inFlight = plan.number("inflight", 1, 1);
    String what = plan.text("what", "createdelete");
    ZooKeeper client = Connections.raw(plan.endpoint);
    List<Repeat.Cycle> loops = new ArrayList<>();
    for (int i = 0; i < inFlight; i++) {
      Floor floor = new Floor(client, plan.path() + "-" + i);
      loops.add(floor.cycle(what));
      floor.makeParent();
    }
    Result result = Repeat.run(plan, loops);
    client.close();
    return result;
  }

  private Repeat.Cycle cycle(String what) {
    switch (what) {
      case "create":
        return this::creates;
      case "createdelete":
        return this::createsAndDeletes;
      case "event":
        return this::seesDeletes;
      default:
        throw new IllegalArgumentException(
            "what=" + what + ": the floors of ZooKeeper are create, createdelete and event");
    }
  }

  private void makeParent() throws Exception {
    try {
      client.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    } catch (KeeperException.NodeExistsException left) {
      // By a run before this one.
    }
  }

  private Repeat.Took creates() throws Exception {
    long start = System.nanoTime();
    create();
    long took = System.nanoTime() - start;
    return new Repeat.Took(took, took);
  }

  private Repeat.Took createsAndDeletes() throws Exception {
    long start = System.nanoTime();
    String node = create();
    long created = System.nanoTime();
    client.delete(node, -1);
    return new Repeat.Took(created - start, System.nanoTime() - start);
  }

  /** Of a delete: its answer, and its event. What comes before it is not timed. */
  private Repeat.Took seesDeletes() throws Exception {
    String node = create();
    CompletableFuture<Long> event = new CompletableFuture<>();
    client.exists(node, unused -> event.complete(System.nanoTime()));
    long start = System.nanoTime();
    client.delete(node, -1);
    long answered = System.nanoTime();
    return new Repeat.Took(answered - start, event.get() - start);
  }

  private String create() throws Exception {
    return client.create(
        path + "/n-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
  }
}
