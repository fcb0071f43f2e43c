/** An event of a stream. */
export interface StreamEvent {
  readonly type: string;
  readonly id: string;
  readonly data: string;
}

/**
 * Parses server-sent events from a stream in pieces of any size. Comments prove that the connection is alive and carry no data.
 * Follows the WHATWG's "Server-sent events", section 9.2.6, except that `retry` is ignored.
 */
export class EventParser {
  #rest = '';
  #type = '';
  #id = '';
  #data: string[] = [];

  /** Returns the events that this piece completes. */
  push(piece: string): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?=[^])/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = this.#take(line);
      if (event) events.push(event);
    }
    return events;
  }

  #take(line: string): StreamEvent | undefined {
    if (line === '') return this.#complete();
    const [, field, value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? [];
    if (field === 'event') this.#type = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id') this.#id = value;
    return undefined;
  }

  #complete(): StreamEvent | undefined {
    const event = { type: this.#type || 'message', id: this.#id, data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#type = '';
    this.#data = [];
    return isEmpty ? undefined : event;
  }
}
