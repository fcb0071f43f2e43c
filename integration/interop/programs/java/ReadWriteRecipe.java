import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** The parts of an InterProcessReadWriteLock, made one by one: only so they tell their nodes. */
final class ReadWriteRecipe {
  final Writer writer;
  final Reader reader;

  ReadWriteRecipe(CuratorFramework client, String path) {
    writer = new Writer(client, path);
    reader = new Reader(client, path, writer);
  }

  static final class Writer extends InterProcessReadWriteLock.WriteLock implements Recipe {
    Writer(CuratorFramework client, String path) {
      super(client, path, null);
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

  static final class Reader extends InterProcessReadWriteLock.ReadLock implements Recipe {
    Reader(CuratorFramework client, String path, Writer writer) {
      super(client, path, null, writer);
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
}
