import { QueueLockError, invalidArgument } from '../api/errors.ts';

/** The parts of a URL such as `etcd://user:secret@h1:2379,h2:2379/prefix?option=value`. */
export interface BackendUrl {
  /** The scheme in lower case, without the colon. */
  readonly scheme: string;
  readonly username?: string;
  readonly password?: string;
  /** The hosts, each as `host` or `host:port`, IPv6 addresses in brackets. Empty for a URL without an authority. */
  readonly hosts: readonly string[];
  /** The decoded path without its leading slash; empty when there is none. */
  readonly path: string;
  readonly params: ReadonlyMap<string, string>;
  /** The URL without user, password and parameters, for use in messages. */
  readonly display: string;
}

const SHAPE = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?]*))?([^?]*)(?:\?(.*))?$/is;
const HOST = /^(?:\[[0-9a-f:.]+\]|[^\s:[\]@]+)(?::(\d{1,5}))?$/i;
const ENCODING = 'in user and password write @ as %40, / as %2F, ? as %3F and % as %25, elsewhere @ as %40';

/**
 * Splits a backend's URL into its parts. Unlike a WHATWG URL it may list several hosts, each with its port. User and password end at the last `@`
 * before the path, so a password may contain an `@`. A URL with an `@` after its hosts is refused: a slash or a question mark in a password would
 * otherwise turn parts of the password into hosts and paths, which messages repeat.
 * @throws {QueueLockError} `INVALID_ARGUMENT`; the message repeats no part of the URL.
 */
export function parseBackendUrl(text: string): BackendUrl {
  if (typeof text !== 'string') throw invalidArgument('backend URL', typeof text, 'is a string');
  const parts = SHAPE.exec(text);
  if (!parts) throw refused('is written scheme://host:port/path');
  const [, scheme = '', authority = '', path = '', query = ''] = parts;
  if (authority !== '' && `${path}${query}`.includes('@'))
    throw refused(`has no @ after its hosts: ${ENCODING}`);
  const at = authority.lastIndexOf('@');
  const hosts = authority.slice(at + 1);
  const [username, password] = authority
    .slice(0, Math.max(at, 0))
    .split(/:(.*)/s)
    .map((part) => decode(part));
  return {
    scheme: scheme.toLowerCase(),
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    hosts: hosts === '' ? [] : hosts.split(',').map((host) => checkedHost(host)),
    path: decode(path.replace(/^\//, '')),
    params: new Map(new URLSearchParams(query)),
    display: `${scheme.toLowerCase()}:${hosts === '' ? '' : `//${hosts}`}${path}`,
  };
}

function checkedHost(host: string): string {
  const port = HOST.exec(host)?.[1];
  if (!HOST.test(host) || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)))
    throw refused(`has hosts written host:port, with a port from 1 to 65535; ${ENCODING}`);
  return host;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refused(`is percent-encoded; ${ENCODING}`);
  }
}

/** Creates an error that repeats no part of the URL, because any part of a malformed URL may belong to a password. */
function refused(rule: string): QueueLockError {
  return new QueueLockError(
    'INVALID_ARGUMENT',
    `backend URL ${rule}; the given URL is not shown, since it may contain a password`,
  );
}
