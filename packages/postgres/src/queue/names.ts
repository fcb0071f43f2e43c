import { invalidArgument } from '@queuelock/core/backend';

/** Returns the key of an entry, as observers and operators see it. */
export function keyOf(queue: string, ord: number): string {
  return `${queue}/${ord}`;
}

/**
 * Returns the order number of an entry from its key, or `undefined` when the key belongs to another queue.
 */
export function orderIn(queue: string, key: string): string | undefined {
  const order = key.slice(queue.length + 1);
  return key.startsWith(`${queue}/`) && /^\d+$/.test(order) ? order : undefined;
}

/**
 * Checks the name of a schema. It consists of lower-case letters, digits and underscores, which need no
 * quotes in SQL. It has at most 32 characters, because names of notification channels begin with it and have
 * at most 63 bytes.
 */
export function checkSchema(schema: unknown): string {
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,31}$/.test(schema) || schema.startsWith('pg_')) {
    const rule = 'is 1 to 32 of a to z, 0 to 9 and _, begins with no digit and not with pg_';
    throw invalidArgument('schema', schema, rule);
  }
  return schema;
}
