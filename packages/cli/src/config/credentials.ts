import { keepSecret } from '../secrets.ts';
import { readPrivate } from './private-file.ts';

/** Who logs in, where the URL does not say it. */
export interface Credentials {
  readonly user: string | undefined;
  readonly password: string | undefined;
}

const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?]*)@)?/i;

/** Whether the URL itself has a password. */
export function hasPassword(url: string): boolean {
  return passwordIn(url) !== '';
}

/** The URL with these credentials, unless it has some of its own or names no server. */
export function withCredentials(url: string, { user, password }: Credentials): string {
  const [start, scheme = '', own] = USER_INFO.exec(url) ?? [];
  for (const secret of [passwordIn(url), decoded(passwordIn(url))]) keepSecret(secret);
  if (start === undefined || own !== undefined || user === undefined || password === undefined) return url;
  keepSecret(password);
  return `${scheme}${encodeURIComponent(user)}:${encodeURIComponent(password)}@${url.slice(start.length)}`;
}

/** The password in a file: all of it but the end of its last line. */
export function readPassword(file: string): string {
  return readPrivate('password file', file).replace(/\r?\n$/, '');
}

function passwordIn(url: string): string {
  const [, , own = ''] = USER_INFO.exec(url) ?? [];
  return own.includes(':') ? own.slice(own.indexOf(':') + 1) : '';
}

/** Of a text that is not percent-encoded well, the backend complains. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
