/** A protected resource: it rejects a write with a smaller fencing token than that of an earlier write. */
export class Fenced {
  readonly written: string[] = [];
  #newest = 0n;

  write(token: bigint, text: string): boolean {
    if (token < this.#newest) return false;
    this.#newest = token;
    this.written.push(text);
    return true;
  }
}
