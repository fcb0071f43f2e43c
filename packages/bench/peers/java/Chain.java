import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.AsyncCallback.VoidCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** The floor of hand-offs: nodes that fall one after the other, each deleted when its predecessor is seen deleted. */
final class Chain {
  private static final int WARM_CHAINS = 20;
  private static final int WARM_LINKS = 100;

  private final ZooKeeper client;
  private final String path;

  private Chain(ZooKeeper client, String path) {
    this.client = client;
    this.path = path;
  }

  static Result run(Plan plan) throws Exception {
    int links = plan.number("n", 100, 1);
    ZooKeeper client = Connections.raw(plan.endpoint);
    for (int i = 0; i < WARM_CHAINS; i++) {
      new Chain(client, plan.path() + "-warm" + i).fall(WARM_LINKS, Stage.UNTOLD);
    }
    Result result = new Chain(client, plan.path()).fall(links, Stage.TOLD);
    client.close();
    return result;
  }

  private Result fall(int links, Stage stage) throws Exception {
    client.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    stage.reached("connected");
    long arrival = System.nanoTime();
    Passage passage = new Passage();
    // Answers and events: one of each for every link.
    CountDownLatch missing = new CountDownLatch(2 * links);
    for (int i = 0; i < links; i++) {
      client.create(link(i), new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
      int next = i + 1;
      client.exists(
          link(i),
          event -> {
            if (event.getType() != Watcher.Event.EventType.NodeDeleted) return;
            passage.pass();
            missing.countDown();
            if (next < links) delete(link(next), missing);
          });
    }
    long enqueue = System.nanoTime() - arrival;
    stage.reached("ready");
    passage.begin();
    delete(link(0), missing);
    missing.await();
    client.delete(path, -1);
    return passage.result(enqueue);
  }

  private String link(int i) {
    return path + "/" + i;
  }

  private void delete(String node, CountDownLatch missing) {
    VoidCallback answered =
        (code, unused, alsoUnused) -> {
          if (code == Code.OK.intValue()) missing.countDown();
          else Peer.fail(new IllegalStateException("delete " + node + ": " + Code.get(code)));
        };
    client.delete(node, -1, answered, null);
  }
}
