import type { Clock } from '@queuelock/core';
import * as v from 'valibot';
import type { ClientId, Quota } from './limits/quota.ts';
import { Refused } from './refusal.ts';

/** What bodies are read with. */
export interface BodyReaderSpec {
  readonly clock: Clock;
  /** Bodies that are being read at a time. */
  readonly bodies: Quota;
  readonly maxBytes: number;
  /** How long a client may take to send one. */
  readonly withinMs: number;
}

/** Reads the bodies of requests, within limits of size, time and number: a client may send one slowly, or never to its end. */
export class BodyReader {
  readonly #spec: BodyReaderSpec;

  constructor(spec: BodyReaderSpec) {
    this.#spec = spec;
  }

  /**
   * The body of a request, checked.
   * @throws {Refused} when there are too many, when it is too long, too slow, no JSON, or not as the schema says.
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
   * Stops reading where it is too long: what is announced may not be what comes. The rest is left to the host, which ends the connection: to
   * cancel the body would end it before the client has read why.
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

/** @throws {Refused} */
export function checked<T>(value: unknown, schema: v.GenericSchema<T>): T {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue) ?? 'the body';
  throw new Refused(400, 'INVALID_ARGUMENT', `${where}: ${issue.message.slice(0, 200)}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused(400, 'INVALID_ARGUMENT', 'the body is JSON');
  }
}

function tooLong(maxBytes: number): Refused {
  return new Refused(
    413,
    'INVALID_ARGUMENT',
    `the body has at most ${String(maxBytes)} bytes (limits.bodyBytes)`,
  );
}

function tooSlow(withinMs: number): Refused {
  return new Refused(
    408,
    'TIMEOUT',
    `the body was not complete within ${String(withinMs)} ms (times.bodyMs)`,
  );
}
