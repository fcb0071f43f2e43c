import java.util.HashMap;
import java.util.Map;

/** What to do and with which numbers, as the command line says it. */
final class Plan {
  final String endpoint;
  final String scenario;
  private final Map<String, String> values;

  private Plan(String endpoint, String scenario, Map<String, String> values) {
    this.endpoint = endpoint;
    this.scenario = scenario;
    this.values = values;
  }

  static Plan of(String[] args, String endpoint) {
    if (endpoint == null) throw new IllegalArgumentException("ZK is not set: give the server as host:port");
    if (args.length == 0) throw new IllegalArgumentException("usage: Peer SCENARIO key=value …");
    Map<String, String> values = new HashMap<>();
    for (int i = 1; i < args.length; i++) {
      String[] parts = args[i].split("=", 2);
      if (parts.length != 2) throw new IllegalArgumentException("\"" + args[i] + "\" is no key=value");
      values.put(parts[0], parts[1]);
    }
    return new Plan(endpoint, args[0], values);
  }

  String text(String key, String otherwise) {
    return values.getOrDefault(key, otherwise);
  }

  /** The path of the name, or of the scenario when no name is given. */
  String path() {
    return "/" + text("name", scenario);
  }

  int number(String key, int otherwise, int least) {
    String value = values.get(key);
    if (value == null) return otherwise;
    if (value.matches("\\d{1,9}") && Integer.parseInt(value) >= least) return Integer.parseInt(value);
    throw new IllegalArgumentException(key + "=" + value + ": give a whole number from " + least);
  }

  long windowNanos() {
    return number("ms", 2_000, 1) * 1_000_000L;
  }
}
