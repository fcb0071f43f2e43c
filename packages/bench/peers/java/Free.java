import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Locks that nobody else wants, over and over, in one session; a thread each. */
final class Free {
  private Free() {}

  static Result run(Plan plan) throws Exception {
    int locks = plan.number("locks", 1, 1);
    CuratorFramework client = Connections.curator(plan.endpoint);
    List<Repeat.Cycle> loops = new ArrayList<>();
    for (int i = 0; i < locks; i++) {
      InterProcessMutex mutex = new InterProcessMutex(client, plan.path() + "-" + i);
      loops.add(() -> cycle(mutex));
    }
    Result result = Repeat.run(plan, loops);
    client.close();
    return result;
  }

  private static Repeat.Took cycle(InterProcessMutex mutex) throws Exception {
    long start = System.nanoTime();
    mutex.acquire();
    long acquired = System.nanoTime();
    mutex.release();
    return new Repeat.Took(acquired - start, System.nanoTime() - start);
  }
}
