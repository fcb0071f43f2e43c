/** Changes and reads the key/value store as an operator does, without the backend. */
export class Operator {
  readonly #endpoint: string;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  async remove(key: string): Promise<void> {
    await this.ask('DELETE', `/v1/kv/${key}`);
  }

  /** Returns the keys that begin with a text. */
  async keysUnder(prefix: string): Promise<readonly string[]> {
    return (await this.ask('GET', `/v1/kv/${prefix}?keys&consistent`)) as readonly string[];
  }

  /** Sends a request and parses the response. A missing key returns an empty list. */
  async ask(method: string, path: string, body?: string): Promise<unknown> {
    const response = await fetch(`http://${this.#endpoint}${path}`, { method, body: body ?? null });
    if (response.status === 404) return [];
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as unknown;
  }
}
