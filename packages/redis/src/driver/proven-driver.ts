import { inspect, isDeepStrictEqual } from 'node:util';
import { invalidArgument } from '@queuelock/core/backend';
import type { Address, Driver, Wire, WireEvents } from './driver.ts';

/** Lua script that returns a value of each kind that occurs in replies, such as a number as large as a time in microseconds. */
const PROBE = "return {7, 1900000000000001, 'text', {'nested', 0}, false}";
const EXPECTED: readonly unknown[] = [7, 1_900_000_000_000_001, 'text', ['nested', 0], null];

/**
 * Opens connections for the client that the caller has passed, and tests the first one: replies must arrive as the server sent them. An
 * option, a global reply transformer or a wrapper may change them. With a changed number, the backend could grant a lock wrongly.
 */
export class ProvenDriver implements Driver {
  readonly #driver: Driver;
  #isProven = false;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  get endpoint(): string {
    return this.#driver.endpoint;
  }

  async open(events: WireEvents, at?: Partial<Address>): Promise<Wire> {
    const wire = await this.#driver.open(events, at);
    if (this.#isProven) return wire;
    try {
      await prove(wire);
    } catch (error) {
      wire.close();
      throw error;
    }
    this.#isProven = true;
    return wire;
  }
}

/**
 * Sends a script whose reply is known, and compares the reply.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the client changes replies
 */
async function prove(wire: Wire): Promise<void> {
  const reply = await wire.send(['EVAL', PROBE, '0']);
  if (isDeepStrictEqual(reply, EXPECTED)) return;
  const rule = `returns replies as the server sent them: ${inspect(EXPECTED)} was expected; use a client without stringNumbers, typeMapping, reply transformers and wrappers that change replies`;
  throw invalidArgument('client', inspect(reply), rule);
}
