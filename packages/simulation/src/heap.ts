/** A heap with the smallest element first. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #compare: (one: T, other: T) => number;

  constructor(compare: (one: T, other: T) => number) {
    this.#compare = compare;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let place = items.length;
    for (let up = (place - 1) >> 1; place > 0 && this.#isBefore(item, up); up = (place - 1) >> 1) {
      items[place] = items[up] as T;
      place = up;
    }
    items[place] = item;
  }

  pop(): T | undefined {
    const [first] = this.#items;
    const last = this.#items.pop();
    if (this.#items.length > 0) this.#sink(last as T);
    return first;
  }

  #sink(item: T): void {
    const items = this.#items;
    let place = 0;
    for (let down = 1; down < items.length; down = 2 * place + 1) {
      if (down + 1 < items.length && this.#compare(items[down + 1] as T, items[down] as T) < 0) down += 1;
      if (this.#compare(item, items[down] as T) <= 0) break;
      items[place] = items[down] as T;
      place = down;
    }
    items[place] = item;
  }

  #isBefore(item: T, place: number): boolean {
    return this.#compare(item, this.#items[place] as T) < 0;
  }
}
