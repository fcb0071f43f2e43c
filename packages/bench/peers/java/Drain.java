import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** A line of waiters in one session, a thread and a mutex object each, that all pass at once. */
final class Drain {
  private static final int WARM_LINES = 30;
  private static final int WARM_WAITERS = 100;

  private final CuratorFramework client;
  private final String endpoint;

  private Drain(CuratorFramework client, String endpoint) {
    this.client = client;
    this.endpoint = endpoint;
  }

  static Result run(Plan plan) throws Exception {
    int waiters = plan.number("n", 100, 1);
    CuratorFramework client = Connections.curator(plan.endpoint);
    Drain drain = new Drain(client, plan.endpoint);
    for (int i = 0; i < WARM_LINES; i++) drain.line(plan.path() + "-warm", WARM_WAITERS, Stage.UNTOLD);
    Result result = drain.line(plan.path(), waiters, Stage.TOLD);
    client.close();
    return result;
  }

  private Result line(String path, int waiters, Stage stage) throws Exception {
    InterProcessMutex holder = new InterProcessMutex(client, path);
    holder.acquire();
    int before = Connections.watches(endpoint);
    stage.reached("connected");
    long arrival = System.nanoTime();
    Passage passage = new Passage();
    Crew crew = new Crew();
    for (int i = 0; i < waiters; i++) {
      InterProcessMutex mutex = new InterProcessMutex(client, path);
      crew.start(
          () -> {
            mutex.acquire();
            passage.pass();
            mutex.release();
          });
    }
    Connections.awaitWatches(endpoint, before + waiters, crew);
    long enqueue = System.nanoTime() - arrival;
    stage.reached("ready");
    passage.begin();
    holder.release();
    crew.join();
    return passage.result(enqueue);
  }
}
