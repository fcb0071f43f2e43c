import { QueueLockError, invalidArgument } from '../api/errors.ts';

/** The parts of a URL such as `etcd://user:secret@h1:2379,h2:2379/prefix?option=value`. */
export interface BackendUrl {
  /** Lower case, without the colon. */
  readonly scheme: string;
  readonly username?: string;
  readonly password?: string;
  /** `host` or `host:port` each, IPv6 addresses in brackets; empty for a URL without an authority. */
  readonly hosts: readonly string[];
  /** Decoded, without the leading slash; empty when there is none. */
  readonly path: string;
  readonly params: ReadonlyMap<string, string>;
  /** The URL again without user, password and parameters: fit for messages. */
  readonly display: string;
}

const SHAPE = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?]*))?([^?]*)(?:\?(.*))?$/is;
const HOST = /^(?:\[[0-9a-f:.]+\]|[^\s:[\]@]+)(?::(\d{1,5}))?$/i;
const ENCODING = 'in user and password write @ as %40, / as %2F, ? as %3F and % as %25, elsewhere @ as %40';

/**
 * Takes a backend's URL apart. Unlike WHATWG URLs it may list several hosts, each with its port. User and password end at the last `@`
 * before the path, so that a password may have an `@`. A URL with an `@` after its hosts is refused: its password may have a slash or a
 * question mark, which would make hosts and paths, and so messages, of parts of it.
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

/** What may be a part of a password is not repeated: with a URL that is not as it should be, that is every part. */
function refused(rule: string): QueueLockError {
  return new QueueLockError('INVALID_ARGUMENT', `backend URL ${rule}; what was given is not repeated here`);
}
