/** A heap with the smallest element first. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #isBefore: (one: T, other: T) => boolean;

  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let place = items.length;
    items.push(item);
    while (place > 0) {
      const up = (place - 1) >> 1;
      if (!this.#isBefore(item, items[up] as T)) break;
      items[place] = items[up] as T;
      place = up;
    }
    items[place] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (items.length > 0) this.#sink(last as T);
    return first;
  }

  #sink(item: T): void {
    const items = this.#items;
    const { length } = items;
    let place = 0;
    for (let down = 1; down < length; down = 2 * place + 1) {
      if (down + 1 < length && this.#isBefore(items[down + 1] as T, items[down] as T)) down += 1;
      if (!this.#isBefore(items[down] as T, item)) break;
      items[place] = items[down] as T;
      place = down;
    }
    items[place] = item;
  }
}
