import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Threads that work at once; the first failure is everybody's. */
final class Crew {
  interface Work {
    void run() throws Exception;
  }

  private static final Object DONE = new Object();

  private final List<Thread> threads = new ArrayList<>();
  private final BlockingQueue<Object> endings = new LinkedBlockingQueue<>();

  void start(Work work) {
    Thread thread = new Thread(() -> endings.add(endingOf(work)));
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  private static Object endingOf(Work work) {
    try {
      work.run();
      return DONE;
    } catch (Throwable failure) {
      return failure;
    }
  }

  /** Returns when all are done. */
  void join() throws Exception {
    for (int i = 0; i < threads.size(); i++) {
      Object ending = endings.take();
      if (ending instanceof Throwable) throw new Exception("a thread failed", (Throwable) ending);
    }
  }

  /** Throws if one has failed until now. */
  void check() throws Exception {
    for (Object ending : endings) {
      if (ending instanceof Throwable) throw new Exception("a thread failed", (Throwable) ending);
    }
  }
}
