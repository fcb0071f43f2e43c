import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.zookeeper.data.Stat;

/** Leads in a thread of Curator's while the round waits in its own. */
final class SelectorRecipe extends LeaderSelectorListenerAdapter implements Recipe {
  private final CuratorFramework client;
  private final String path;
  private final LeaderSelector selector;
  private final SynchronousQueue<String> elected = new SynchronousQueue<>();
  private final SynchronousQueue<String> resigned = new SynchronousQueue<>();
  private boolean started;

  SelectorRecipe(CuratorFramework client, String path, String id) {
    this.client = client;
    this.path = path;
    selector = new LeaderSelector(client, path, this);
    selector.setId(id);
  }

  @Override
  public String enter() throws Exception {
    if (!started) selector.start();
    started = true;
    // Whoever waits while its connection is lost leaves the line and has to join again; it says no to those who stand in it.
    while (elected.poll(5, TimeUnit.MILLISECONDS) == null) selector.requeue();
    return ownNode();
  }

  /** It does not tell its node, which has to be one of this session. */
  private String ownNode() throws Exception {
    long session = client.getZookeeperClient().getZooKeeper().getSessionId();
    for (String child : client.getChildren().forPath(path)) {
      Stat stat = client.checkExists().forPath(path + "/" + child);
      if (stat != null && stat.getEphemeralOwner() == session) return path + "/" + child;
    }
    throw new IllegalStateException("elected without a node");
  }

  @Override
  public void takeLeadership(CuratorFramework unused) throws Exception {
    elected.put("");
    resigned.take();
  }

  /** After a loss Curator has interrupted it, and nobody takes what is offered. */
  @Override
  public void leave() throws Exception {
    resigned.offer("", 1, TimeUnit.SECONDS);
  }

  @Override
  public String leader() throws Exception {
    return Recipe.nobodyIfNoNode(selector::getLeader);
  }

  @Override
  public void close() {
    if (started) selector.close();
  }
}
