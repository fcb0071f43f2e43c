import * as v from 'valibot';
import { unavailable } from './bridge-error.ts';

/**
 * Parses and validates JSON from the bridge.
 * @throws {BridgeError} when the JSON is not valid: the bridge has another version, or a proxy responded.
 */
export function parsed<T>(json: string, schema: v.GenericSchema<T>): T {
  return understood(fromJson(json), schema);
}

/**
 * Returns the value if the schema accepts it.
 * @throws {BridgeError} when the schema rejects it.
 */
export function understood<T>(value: unknown, schema: v.GenericSchema<T>): T {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue) ?? 'the response';
  throw unavailable(`the response of the bridge is not valid: ${where}: ${issue.message.slice(0, 200)}`);
}

function fromJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw unavailable('the response of the bridge is not JSON', error);
  }
}
