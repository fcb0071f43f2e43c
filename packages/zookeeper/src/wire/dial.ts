import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Tls } from '../api/tls.ts';

/** The address of a server. */
export interface Place {
  /** A host name or an IP address. */
  readonly host: string;
  readonly port: number;
  /**
   * The host name that was resolved to the address. The server's certificate is compared with it. Default:
   * the host.
   */
  readonly name?: string;
}

/** A socket that is connecting, and the event that it emits when it is connected. */
export interface Dialled {
  readonly socket: Socket;
  readonly ready: 'connect' | 'secureConnect';
}

/** Opens a socket to a server, with TLS if there are TLS settings. */
export type Dial = (place: Place, tls: Tls | undefined) => Dialled;

export const dial: Dial = ({ host, port, name = host }, tls) => {
  const place = { host, port, noDelay: true };
  if (!tls) return { socket: connectTcp(place), ready: 'connect' };
  const servername = tls.servername ?? name;
  // TLS allows no IP address as the server name. Without a server name, Node compares the certificate with the
  // host.
  const identity = isIP(servername) > 0 ? {} : { servername };
  const socket = connectTls({ ...place, ...identity, secureContext: tls.secureContext });
  return { socket, ready: 'secureConnect' };
};

/** Formats an address, with its host name if there is one: `name/address:port`. An IPv6 address has no brackets. */
export function addressText({ host, port, name }: Place): string {
  return `${name === undefined ? '' : `${name}/`}${host}:${port}`;
}

/** Parses an address as `addressText` formats it: `address:port`, or `name/address:port`. */
export function placeOf(address: string): Place {
  const slash = address.indexOf('/');
  const colon = address.lastIndexOf(':');
  const place = { host: address.slice(slash + 1, colon), port: Number(address.slice(colon + 1)) };
  return slash < 0 ? place : { ...place, name: address.slice(0, slash) };
}
