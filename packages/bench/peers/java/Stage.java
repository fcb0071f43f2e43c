import java.io.IOException;

/** Where a scenario waits for a word, so that somebody can read the server's counters meanwhile. */
interface Stage {
  void reached(String what) throws IOException;

  /** Says where it stands and waits for a line, or for the end of the input. */
  Stage TOLD =
      what -> {
        Peer.OUT.println("{\"" + what + "\":true}");
        for (int read = System.in.read(); read >= 0 && read != '\n'; read = System.in.read()) {}
      };

  Stage UNTOLD = what -> {};
}
