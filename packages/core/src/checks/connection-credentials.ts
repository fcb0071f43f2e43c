import { checkedOptions, type KnownOptions } from './checked-options.ts';
import {
  FreshCredentials,
  isFunction,
  providedByCaller,
  valueOf,
  type Provided,
} from '../kit/fresh-credentials.ts';
import { readPems, secureContextOf, type PemFiles, type PemTexts } from '../kit/pem-files.ts';

/** User name and password for the server. */
export interface Login {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** The credentials with which a new connection is opened. */
export interface ConnectionCredentials {
  readonly pems: PemTexts;
  readonly login: Login;
}

/** Where a backend's credentials come from. */
export interface CredentialParts {
  /** Paths of the PEM files that the URL names. */
  readonly files: PemFiles;
  /** User and password of the URL. */
  readonly login: Login;
  /** The option `tls`, which takes precedence over the files. */
  readonly tls: Provided<PemTexts> | undefined;
  /** The option `auth`, which takes precedence over the URL. */
  readonly auth: Provided<Login> | undefined;
  /** How long a new connection waits for functions that return credentials, in milliseconds. */
  readonly withinMs: number;
  /** The function `createSecureContext` of `node:tls`, passed in so that clients without TLS do not load that module. */
  readonly makeContext: (pems: PemTexts) => unknown;
}

const PEM_OPTIONS: KnownOptions<PemTexts> = { ca: 'any', cert: 'any', key: 'any' };
const LOGIN_OPTIONS: KnownOptions<Login> = { username: 'string', password: 'string' };

/**
 * Returns the credentials of a backend that makes its own connections.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for parts that are known when the backend is created and are invalid; no message repeats their text
 */
export function connectionCredentials(parts: CredentialParts): FreshCredentials<ConnectionCredentials> {
  const { files, login, withinMs, makeContext } = parts;
  const [tls, auth] = [parts.tls && providedByCaller(parts.tls), parts.auth && providedByCaller(parts.auth)];
  const check = (pems: unknown, user: unknown): ConnectionCredentials => ({
    pems: checkedPems([readPems(files), pems], makeContext),
    login: checkedLogin([login, user]),
  });
  const isKnown = !isFunction(tls) && !isFunction(auth);
  const known = isKnown ? check(tls, auth) : undefined;
  return new FreshCredentials({
    withinMs,
    known,
    isFixed: isKnown && Object.keys(files).length === 0,
    read: async () => check(await valueOf(tls), await valueOf(auth)),
  });
}

/** Returns whether certificates are provided as files or texts. Also returns true for a function, because it may return certificates. */
export function havePems(...parts: readonly (Provided<PemTexts> | PemFiles | undefined)[]): boolean {
  return parts.some(
    (part) => part !== undefined && (isFunction<unknown>(part) || Object.keys(part).length > 0),
  );
}

function checkedPems(parts: readonly unknown[], makeContext: CredentialParts['makeContext']): PemTexts {
  const pems = merged(parts.map((part) => checkedOptions('tls', part as PemTexts | undefined, PEM_OPTIONS)));
  secureContextOf(pems, makeContext);
  return pems;
}

function checkedLogin(parts: readonly unknown[]): Login {
  return merged(parts.map((part) => checkedOptions('auth', part as Login | undefined, LOGIN_OPTIONS)));
}

function merged<T extends object>(parts: readonly T[]): T {
  const given = parts.flatMap((part) => Object.entries(part)).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as T;
}
