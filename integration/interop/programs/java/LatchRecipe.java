import java.io.IOException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;

final class LatchRecipe implements Recipe {
  private final CuratorFramework client;
  private final String path;
  private final String id;
  private LeaderLatch latch;

  LatchRecipe(CuratorFramework client, String path, String id) {
    this.client = client;
    this.path = path;
    this.id = id;
    latch = new LeaderLatch(client, path, id);
  }

  @Override
  public String enter() throws Exception {
    latch = new LeaderLatch(client, path, id);
    latch.start();
    latch.await();
    return latch.getOurPath();
  }

  @Override
  public void leave() throws IOException {
    latch.close();
  }

  @Override
  public String leader() throws Exception {
    return Recipe.nobodyIfNoNode(latch::getLeader);
  }
}
