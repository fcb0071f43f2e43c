import { createSecureContext } from 'node:tls';
import {
  FreshCredentials,
  checkedOptions,
  invalidArgument,
  isFunction,
  providedByCaller,
  readPems,
  requireWholePems,
  valueOf,
  type KnownOptions,
  type PemFiles,
  type Provided,
} from '@queuelock/core/backend';

/** A user of etcd, if the cluster has authentication enabled. */
export interface EtcdUser {
  readonly username: string;
  readonly password: string;
}

/** PEM texts for TLS, under the option names of npm etcd3. */
export interface EtcdPems {
  readonly rootCertificate?: Buffer;
  readonly privateKey?: Buffer;
  readonly certChain?: Buffer;
}

/** The credentials for a new connection or a new log-in. */
export interface EtcdCredentials {
  readonly pems: EtcdPems | undefined;
  readonly user: EtcdUser | undefined;
}

const USER: KnownOptions<EtcdUser> = { username: 'any', password: 'any' };
const PEMS: KnownOptions<EtcdPems> = { rootCertificate: 'any', privateKey: 'any', certChain: 'any' };

/**
 * Returns the user and the PEM texts that the options contain. If one of the options is a function, it is called for each new connection.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for fixed options that are invalid; no error message contains their values
 */
export function freshCredentialsOf(
  given: { readonly auth?: Provided<EtcdUser>; readonly credentials?: Provided<EtcdPems> },
  withinMs: number,
): FreshCredentials<EtcdCredentials> {
  const auth = given.auth && providedByCaller(given.auth);
  const credentials = given.credentials && providedByCaller(given.credentials);
  const isFixed = !isFunction(auth) && !isFunction(credentials);
  return new FreshCredentials({
    withinMs,
    isFixed,
    known: isFixed ? { user: checkedUser(auth), pems: checkedPems(credentials) } : undefined,
    read: async () => ({
      user: checkedUser(await valueOf(auth)),
      pems: checkedPems(await valueOf(credentials)),
    }),
  });
}

/** Reads the PEM files that the URL of a backend names. @throws {QueueLockError} `INVALID_ARGUMENT` for a file that cannot be read */
export function pemsIn(files: PemFiles): EtcdPems {
  const { ca, cert, key } = readPems(files);
  return { ...(ca && { rootCertificate: ca }), ...(cert && key && { certChain: cert, privateKey: key }) };
}

function checkedUser(user: EtcdUser | undefined): EtcdUser | undefined {
  if (user === undefined) return undefined;
  checkedOptions('auth', user, USER);
  if (typeof user.username !== 'string' || user.username === '' || typeof user.password !== 'string') {
    throw invalidArgument('auth', user, 'has a username and a password');
  }
  return user;
}

/** Checks that the given PEM texts are complete PEM files, and that the private key belongs to the certificate. Throws `INVALID_ARGUMENT`. */
export function checkedPems(pems: EtcdPems | undefined): EtcdPems | undefined {
  if (pems === undefined) return undefined;
  checkedOptions('credentials', pems, PEMS);
  const { rootCertificate: ca, certChain: cert, privateKey: key } = pems;
  if ((cert === undefined) !== (key === undefined))
    throw invalidArgument(
      'credentials',
      cert === undefined ? 'privateKey' : 'certChain',
      'has certChain and privateKey together',
    );
  requireWholePems('credentials', { rootCertificate: ca, certChain: cert, privateKey: key });
  try {
    createSecureContext({ ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) });
  } catch (error) {
    // The error message contains the reason why the PEM texts are invalid, but not the texts, which may be secret.
    throw invalidArgument('credentials', String(error), 'are PEM files that belong together');
  }
  return pems;
}
