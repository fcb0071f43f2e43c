/** An event that the bridge sends in its stream of server-sent events. */
export interface StreamEvent {
  readonly type: string;
  readonly id: string;
  readonly data: string;
}

/**
 * Largest number of characters of an event that has not ended yet. An event with 10,000 waiters has about two million.
 */
const MAX_EVENT_LENGTH = 16 * 1024 * 1024;
const LINE_END = /[\r\n]/;

/**
 * Parses server-sent events from a stream in pieces of any size. Comments prove that the connection is alive and carry no data.
 * Follows the WHATWG's "Server-sent events", section 9.2.6, except that `retry` is ignored.
 */
export class EventParser {
  #rest = '';
  /** Whether the unparsed text ends in a carriage return. Its last line then ends as soon as another character arrives. */
  #endsInReturn = false;
  #type = '';
  #id = '';
  #data: string[] = [];
  #dataLength = 0;

  /**
   * Returns the events that are complete with this piece of the stream.
   * @throws Error if an event is longer than 16 Mi characters
   */
  push(piece: string): readonly StreamEvent[] {
    const mayEndLine = this.#endsInReturn || LINE_END.test(piece);
    this.#rest += piece;
    if (this.#rest.length + this.#dataLength > MAX_EVENT_LENGTH)
      throw new Error(`an event of the stream is longer than ${String(MAX_EVENT_LENGTH)} characters`);
    // Splits the text only when a line can have ended. Otherwise a long line that arrives in many pieces
    // would be searched again for each piece.
    return mayEndLine ? this.#split() : [];
  }

  #split(): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = this.#rest.split(/\r\n|\n|\r(?=[^])/);
    this.#rest = lines.pop() ?? '';
    this.#endsInReturn = this.#rest.endsWith('\r');
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
    else if (field === 'data') {
      this.#data.push(value);
      this.#dataLength += value.length + 1;
    } else if (field === 'id') this.#id = value;
    return undefined;
  }

  #complete(): StreamEvent | undefined {
    const event = { type: this.#type || 'message', id: this.#id, data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#type = '';
    this.#data = [];
    this.#dataLength = 0;
    return isEmpty ? undefined : event;
  }
}
