import java.util.concurrent.Callable;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.zookeeper.KeeperException;

/** One of Curator's recipes, as one round uses it. */
interface Recipe extends AutoCloseable {
  /** Waits until it is its turn; answers with the path of the node that stands for it. */
  String enter() throws Exception;

  void leave() throws Exception;

  /** Of an election: who leads, {@code ""} for nobody. */
  default String leader() throws Exception {
    throw new UnsupportedOperationException("no election");
  }

  @Override
  default void close() {}

  static String nobodyIfNoNode(Callable<Participant> leader) throws Exception {
    try {
      return leader.call().getId();
    } catch (KeeperException.NoNodeException nobody) {
      return "";
    }
  }

  static Recipe of(String name, CuratorFramework client, String path, String id) {
    if (name.startsWith("semaphore-")) {
      return new SemaphoreRecipe(client, path, Integer.parseInt(name.substring("semaphore-".length())));
    }
    switch (name) {
      case "mutex":
        return new MutexRecipe(client, path);
      case "mutex-both":
        return new MutexRecipe(client, path, TaughtDriver.both());
      case "mutex-kazoo":
        return new MutexRecipe(client, path, TaughtDriver.kazoo());
      case "read":
        return new ReadWriteRecipe(client, path).reader;
      case "write":
        return new ReadWriteRecipe(client, path).writer;
      case "selector":
      case "observe-selector":
        return new SelectorRecipe(client, path, id);
      case "latch":
      case "observe-latch":
        return new LatchRecipe(client, path, id);
      default:
        throw new IllegalArgumentException(
            "RECIPE: \"" + name + "\" is none of mutex[-both|-kazoo], read, write, semaphore-N, [observe-]selector, [observe-]latch");
    }
  }
}
