import * as v from 'valibot';
import { unavailable } from './bridge-error.ts';

/** What the bridge said, checked. @throws {BridgeError} when it is not understood: another version, or something in between. */
export function parsed<T>(json: string, schema: v.GenericSchema<T>): T {
  return understood(fromJson(json), schema);
}

/** @throws {BridgeError} */
export function understood<T>(value: unknown, schema: v.GenericSchema<T>): T {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue) ?? 'the answer';
  throw unavailable(`what the bridge said is not understood: ${where}: ${issue.message.slice(0, 200)}`);
}

function fromJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw unavailable('what the bridge said is no JSON', error);
  }
}
