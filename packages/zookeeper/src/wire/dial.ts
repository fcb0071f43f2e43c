import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Tls } from '../api/tls.ts';

/** Where a server is. */
export interface Place {
  /** A name or an IP address. */
  readonly host: string;
  readonly port: number;
  /** As it was named before its address was looked up: what its certificate is for. Default: the host. */
  readonly name?: string;
}

/** A socket on its way, and the event that tells that it has arrived. */
export interface Dialled {
  readonly socket: Socket;
  readonly ready: 'connect' | 'secureConnect';
}

/** How a socket is had. */
export type Dial = (place: Place, tls: Tls | undefined) => Dialled;

export const dial: Dial = ({ host, port, name = host }, tls) => {
  const place = { host, port, noDelay: true };
  if (!tls) return { socket: connectTcp(place), ready: 'connect' };
  const servername = tls.servername ?? name;
  // An address is no server name; without one the certificate is compared with the host.
  const identity = isIP(servername) > 0 ? {} : { servername };
  const socket = connectTls({ ...place, ...identity, secureContext: tls.secureContext });
  return { socket, ready: 'secureConnect' };
};

/** A server's address, and the name that it was looked up by if it was: `name/address:port`. An IPv6 address has no brackets. */
export function addressText({ host, port, name }: Place): string {
  return `${name === undefined ? '' : `${name}/`}${host}:${port}`;
}

/** What `addressText` has made a text of. */
export function placeOf(address: string): Place {
  const slash = address.indexOf('/');
  const colon = address.lastIndexOf(':');
  const place = { host: address.slice(slash + 1, colon), port: Number(address.slice(colon + 1)) };
  return slash < 0 ? place : { ...place, name: address.slice(0, slash) };
}
