import { invalidArgument } from '../api/errors.ts';

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

const SHAPE = /^([a-z][a-z0-9+.-]*):(?:\/\/(?:([^@/?]*)@)?([^/?]*))?([^?]*)(?:\?(.*))?$/i;
const HOST = /^(?:\[[0-9a-f:.]+\]|[^\s:[\]@]+)(?::(\d{1,5}))?$/i;

/**
 * Takes a backend's URL apart. Unlike WHATWG URLs it may list several hosts, each with its port.
 * @throws {QueueLockError} `INVALID_ARGUMENT`; the message never repeats user or password.
 */
export function parseBackendUrl(text: string): BackendUrl {
  if (typeof text !== 'string') throw invalidArgument('backend URL', text, 'is a string');
  const parts = SHAPE.exec(text);
  if (!parts) throw invalidArgument('backend URL', withoutSecret(text), 'is written scheme://host:port/path');
  const [, scheme = '', userInfo, authority = '', path = '', query = ''] = parts;
  const hosts = authority === '' ? [] : authority.split(',').map((host) => checkedHost(host));
  const [username, password] = (userInfo ?? '').split(/:(.*)/s).map((part) => decode(part));
  return {
    scheme: scheme.toLowerCase(),
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    hosts,
    path: decode(path.replace(/^\//, '')),
    params: new Map(new URLSearchParams(query)),
    display: `${scheme.toLowerCase()}:${authority === '' ? '' : `//${authority}`}${path}`,
  };
}

function checkedHost(host: string): string {
  const port = HOST.exec(host)?.[1];
  if (!HOST.test(host) || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))) {
    throw invalidArgument('backend URL', host, 'has hosts written host:port, with a port from 1 to 65535');
  }
  return host;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw invalidArgument('backend URL', error instanceof Error ? error.message : '', 'is percent-encoded');
  }
}

/** Everything up to the last `@` may hold a user and a password. */
function withoutSecret(text: string): string {
  return text.slice(text.lastIndexOf('@') + 1);
}
