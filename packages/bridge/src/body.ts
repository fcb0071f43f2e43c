import type { Clock } from '@queuelock/core';
import * as v from 'valibot';
import type { ClientId, Quota } from './limits/quota.ts';
import { Refused } from './refusal.ts';

/** The settings and quotas that `BodyReader` uses. */
export interface BodyReaderSpec {
  readonly clock: Clock;
  /** Limits how many request bodies may be read at the same time. */
  readonly bodies: Quota;
  readonly maxBytes: number;
  /** Longest time in milliseconds that a client may take to send one body. */
  readonly withinMs: number;
}

/** Reads request bodies within limits of size, time and number. A client may send a body slowly, or never finish it. */
export class BodyReader {
  readonly #spec: BodyReaderSpec;

  constructor(spec: BodyReaderSpec) {
    this.#spec = spec;
  }

  /**
   * Reads, parses and validates the body of a request.
   * @throws {Refused} when too many bodies are being read, or when this one is too long, too slow, not JSON or not valid.
   */
  async read<T>(request: Request, schema: v.GenericSchema<T>, client: ClientId): Promise<T> {
    const release = this.#spec.bodies.take(client);
    try {
      return checked(parsed(await this.#textOf(request)), schema);
    } finally {
      release();
    }
  }

  /**
   * Reads the body up to the size limit, because its announced length may be wrong. A longer body is not
   * cancelled: that would end the connection before the client has read the error. The host ends the
   * connection after the response.
   */
  async #textOf({ body }: Request): Promise<string> {
    if (!body) return '';
    const { clock, maxBytes, withinMs } = this.#spec;
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    let cancel: () => void = () => undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(withinMs, () => reject(tooSlow(withinMs)));
    });
    try {
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for (;;) {
        const { done, value } = await Promise.race([reader.read(), late]);
        if (done) return Buffer.concat(chunks).toString();
        bytes += value.byteLength;
        if (bytes > maxBytes) throw tooLong(maxBytes);
        chunks.push(value);
      }
    } finally {
      cancel();
    }
  }
}

/**
 * Returns the value if the schema accepts it.
 * @throws {Refused} 400 when the schema rejects it.
 */
export function checked<T>(value: unknown, schema: v.GenericSchema<T>): T {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue) ?? 'the request body';
  throw new Refused(400, 'INVALID_ARGUMENT', `${where}: ${issue.message.slice(0, 200)}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused(400, 'INVALID_ARGUMENT', 'the request body is not JSON');
  }
}

function tooLong(maxBytes: number): Refused {
  return new Refused(
    413,
    'INVALID_ARGUMENT',
    `the request body has more than ${String(maxBytes)} bytes (limits.bodyBytes)`,
  );
}

function tooSlow(withinMs: number): Refused {
  return new Refused(
    408,
    'TIMEOUT',
    `the request body did not arrive within ${String(withinMs)} ms (times.bodyMs)`,
  );
}
