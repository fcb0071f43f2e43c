import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** Clients with a session each, that want the same lock again as soon as they have let go of it. */
final class Fresh {
  /** Of all clients together. */
  private static final int WARM_AT_LEAST = 200;
  private static final int NOISE_EVERY_MS = 2;

  private Fresh() {}

  static Result run(Plan plan) throws Exception {
    int clients = plan.number("clients", 2, 2);
    int holdMs = plan.number("hold", 5, 0);
    int rounds = plan.number("rounds", 50, 1);
    int warm = Math.max(plan.number("warm", 0, 0), WARM_AT_LEAST / clients);
    Grants grants = new Grants(warm * clients);
    List<CuratorFramework> all = new ArrayList<>();
    for (int i = 0; i < clients; i++) all.add(Connections.curator(plan.endpoint));
    if (plan.text("noise", "0").equals("1")) makeNoise(plan.endpoint);
    Crew crew = new Crew();
    for (int i = 0; i < clients; i++) {
      InterProcessMutex mutex = new InterProcessMutex(all.get(i), plan.path());
      int id = i;
      crew.start(
          () -> {
            for (int n = 1; n <= warm + rounds; n++) {
              grants.requesting();
              mutex.acquire();
              grants.granted(id);
              TimeUnit.MILLISECONDS.sleep(holdMs);
              grants.releasing();
              mutex.release();
            }
          });
    }
    crew.join();
    for (CuratorFramework client : all) client.close();
    return grants.result();
  }

  /** Writes that have nothing to do with any lock, from a connection of their own, until the program ends. */
  private static void makeNoise(String endpoint) throws Exception {
    ZooKeeper client = Connections.raw(endpoint);
    try {
      client.create("/noise", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    } catch (KeeperException.NodeExistsException left) {
      // By a run before this one.
    }
    new Crew().start(() -> write(client));
  }

  private static void write(ZooKeeper client) {
    try {
      for (; ; TimeUnit.MILLISECONDS.sleep(NOISE_EVERY_MS)) client.setData("/noise", new byte[0], -1);
    } catch (Exception failure) {
      Peer.fail(failure);
    }
  }
}
