import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

final class SemaphoreRecipe implements Recipe {
  private final InterProcessSemaphoreV2 semaphore;
  private final String leases;
  private Lease lease;

  SemaphoreRecipe(CuratorFramework client, String path, int limit) {
    semaphore = new InterProcessSemaphoreV2(client, path, limit);
    leases = path + "/leases/";
  }

  @Override
  public String enter() throws Exception {
    lease = semaphore.acquire();
    return leases + lease.getNodeName();
  }

  @Override
  public void leave() {
    semaphore.returnLease(lease);
  }
}
