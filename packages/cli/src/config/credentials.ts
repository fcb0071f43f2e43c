import { registerSecret } from '../secrets.ts';
import { readPrivate } from './private-file.ts';

/** User and password to add to a store's URL that has none. */
export interface Credentials {
  readonly user: string | undefined;
  readonly password: string | undefined;
}

const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?]*)@)?/i;

/** Returns whether the URL has a password. */
export function hasPassword(url: string): boolean {
  return passwordIn(url) !== '';
}

/**
 * Adds the credentials to the URL. Returns the URL unchanged if it already has credentials or names no
 * server.
 */
export function withCredentials(url: string, { user, password }: Credentials): string {
  const [start, scheme = '', own] = USER_INFO.exec(url) ?? [];
  for (const secret of [passwordIn(url), decoded(passwordIn(url))]) registerSecret(secret);
  if (start === undefined || own !== undefined || user === undefined || password === undefined) return url;
  registerSecret(password);
  return `${scheme}${encodeURIComponent(user)}:${encodeURIComponent(password)}@${url.slice(start.length)}`;
}

/** Reads a password from a file. The password is the whole text without a final line end. */
export function readPassword(file: string): string {
  return readPrivate('password file', file).replace(/\r?\n$/, '');
}

function passwordIn(url: string): string {
  const [, , own = ''] = USER_INFO.exec(url) ?? [];
  return own.includes(':') ? own.slice(own.indexOf(':') + 1) : '';
}

/**
 * Decodes percent-encoding. Returns text with an invalid encoding unchanged; the backend reports that error
 * later.
 */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
