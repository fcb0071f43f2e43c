import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;

/**
 * The client programs in Java, for ZooKeeper: Peer SCENARIO key=value …, with ZK=host:port in the environment. See
 * ../../src/peers.ts.
 */
public final class Peer {
  /** Not the one that libraries print to. */
  static final PrintStream OUT = new PrintStream(new FileOutputStream(FileDescriptor.out), true);

  private Peer() {}

  public static void main(String[] args) {
    try {
      OUT.println(run(Plan.of(args, System.getenv("ZK"))));
      System.exit(0);
    } catch (IllegalArgumentException mistake) {
      System.err.println(mistake.getMessage());
    } catch (Throwable failure) {
      fail(failure);
    }
    System.exit(1);
  }

  /** Ends the program, from any thread. */
  static void fail(Throwable failure) {
    failure.printStackTrace();
    System.exit(1);
  }

  private static Result run(Plan plan) throws Exception {
    switch (plan.scenario) {
      case "free":
        return Free.run(plan);
      case "drain":
        return Drain.run(plan);
      case "fresh":
        return Fresh.run(plan);
      case "floor":
        return Floor.run(plan);
      case "chain":
        return Chain.run(plan);
      default:
        throw new IllegalArgumentException(
            "\"" + plan.scenario + "\" is none of free, drain, fresh, floor, chain");
    }
  }
}
