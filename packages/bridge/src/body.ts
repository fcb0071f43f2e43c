import * as v from 'valibot';
import { Refused } from './refusal.ts';

const MAX_BYTES = 256 * 1_024;

/**
 * The body of a request, checked.
 * @throws {Refused} when it is too long, no JSON, or not as the schema says.
 */
export async function bodyOf<T>(request: Request, schema: v.GenericSchema<T>): Promise<T> {
  return checked(parsed(await textOf(request)), schema);
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

/** Stops reading where it is too long: what is announced may not be what comes. */
async function textOf({ body }: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES)
      throw new Refused(413, 'INVALID_ARGUMENT', `the body has at most ${String(MAX_BYTES)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
