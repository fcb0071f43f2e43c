import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

final class MutexRecipe extends InterProcessMutex implements Recipe {
  MutexRecipe(CuratorFramework client, String path) {
    super(client, path);
  }

  MutexRecipe(CuratorFramework client, String path, TaughtDriver driver) {
    super(client, path, driver);
  }

  @Override
  public String enter() throws Exception {
    acquire();
    return getLockPath();
  }

  @Override
  public void leave() throws Exception {
    release();
  }
}
