import type { SessionKey } from '../driver/driver.ts';
import type { WireSession } from './handshake.ts';

/** Formats an id in lower-case hexadecimal, as servers do. */
export function hexOf(id: bigint): string {
  return BigInt.asUintN(64, id).toString(16);
}

/**
 * Converts a session to its key. The hexadecimal password is in upper case, because the npm package
 * `zookeeper` parses only upper case.
 */
export function keyOf({ id, password }: WireSession): SessionKey {
  return { client_id: hexOf(id), client_password: password.toString('hex').toUpperCase() };
}

export function sessionOf({ client_id, client_password }: SessionKey): WireSession {
  return {
    id: BigInt.asIntN(64, BigInt(`0x${client_id}`)),
    password: Buffer.from(client_password, 'hex'),
  };
}
