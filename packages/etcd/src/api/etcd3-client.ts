// The types of npm etcd3 are declared here again, since npm etcd3 need not be installed where this package is used.

import { inspectHandedIn, invalidArgument, requireMethods } from '@queuelock/core/backend';

/** A client of npm etcd3 (`Etcd3`, version 1.1). Only the properties that this package uses are declared. */
export interface Etcd3ClientLike {
  /** The part of the client that sends requests to the key space. */
  readonly kv: object;
  /** The part of the client that sends requests about leases. */
  readonly leaseClient: object;
  /** The part of the client that opens watch streams. */
  readonly watchClient: object;
  /** The part of the client that requests the status of a member. */
  readonly maintenance: object;
  /** A method by which this package distinguishes a client of npm etcd3 from other objects. This package never calls it. */
  getRoles(): Promise<unknown>;
  /** Closes the client. This package never calls this method, since the application closes its own client. */
  close(): void;
}

/** The class `Etcd3` of npm etcd3. */
export type Etcd3Class = new (options: object) => Etcd3ClientLike;

/** The options of the application's client that this package uses for the clients of npm etcd3 that it makes itself. */
interface Etcd3ClientOptions {
  readonly hosts: string | readonly string[];
  readonly auth?: { readonly username: string; readonly password: string };
  readonly credentials?: {
    readonly rootCertificate: Buffer;
    readonly privateKey?: Buffer;
    readonly certChain?: Buffer;
  };
  readonly grpcOptions?: Readonly<Record<string, unknown>>;
}

/** What is needed to create clients of npm etcd3 like the application's client: its class and its options. */
export interface CheckedEtcd3Client {
  readonly Etcd3: Etcd3Class;
  readonly options: Etcd3ClientOptions;
}

const RULE = 'is a client of npm etcd3 1.1, made by new Etcd3(…)';
/** The methods of a client of npm etcd3 that this package calls. Each list has the methods of one property of the client, such as `kv`. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  kv: ['range', 'put', 'deleteRange', 'txn'],
  leaseClient: ['leaseGrant', 'leaseRevoke', 'leaseKeepAlive', 'leaseTimeToLive'],
  watchClient: ['watch'],
  maintenance: ['status'],
};

/**
 * Checks a client that the application has passed, without a request to the server: its version, the methods that this package needs, and that
 * clients with the same options reach the same cluster.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for the option `client`
 */
export function checkEtcd3Client(client: Etcd3ClientLike): CheckedEtcd3Client {
  return inspectHandedIn('client', () => {
    checkKind(client);
    const pool = Reflect.get(client, 'pool') as object;
    if (Reflect.get(pool, 'mockImpl')) {
      const rule =
        'has no mock: locks would go to the servers of its options; use @queuelock/memory in tests';
      throw invalidArgument('client', 'a client after mock()', rule);
    }
    return { Etcd3: classOf(client), options: optionsOf(Reflect.get(pool, 'options') as Etcd3ClientOptions) };
  });
}

function optionsOf({ hosts, auth, credentials, grpcOptions }: Etcd3ClientOptions): Etcd3ClientOptions {
  for (const host of typeof hosts === 'string' ? [hosts] : hosts) checkPort(host);
  return {
    hosts,
    // Copies only name and password of the application's client, since the clients that this package makes have call options of their own.
    ...(auth && { auth: { username: auth.username, password: auth.password } }),
    ...(credentials && { credentials }),
    ...(grpcOptions && { grpcOptions }),
  };
}

function checkKind(client: Etcd3ClientLike): void {
  // Refuses a namespace of a client. A namespace adds a prefix of its own to all keys, which the clients that this package makes would not have.
  if (typeof Reflect.get(client, 'namespace') === 'function' && !('maintenance' in client)) {
    const rule = `${RULE}, and not a namespace of one: choose the keys by the option prefix`;
    throw invalidArgument('client', 'a namespace', rule);
  }
  requireMethods(client, {
    argument: 'client',
    methods: ['getRoles', 'close'],
    what: 'an object',
    rule: (missing) => `${RULE}, which has ${missing}()`,
  });
  for (const [part, methods] of Object.entries(METHODS))
    requireMethods(Reflect.get(client, part), {
      argument: `${part} of client`,
      methods,
      what: 'an object',
      rule: (missing) => `has ${missing}(), as in npm etcd3 1.1`,
    });
  // Checks the version: only npm etcd3 1.1 has a `globalPolicy`. Retries of earlier versions would have to be
  // disabled in another way.
  const policy: unknown = Reflect.get(Object(Reflect.get(client, 'pool')), 'globalPolicy');
  requireMethods(policy, {
    argument: 'client',
    methods: ['execute'],
    what: 'a client of another version',
    rule: () => RULE,
  });
}

/** Returns the class `Etcd3` of npm etcd3 to which a client belongs. A subclass of the application may have other constructor arguments. */
function classOf(client: Etcd3ClientLike): Etcd3Class {
  let prototype: unknown = Object.getPrototypeOf(client);
  while (typeof prototype === 'object' && prototype !== null) {
    if (Object.hasOwn(prototype, 'getRoles')) return prototype.constructor as Etcd3Class;
    prototype = Object.getPrototypeOf(prototype);
  }
  throw invalidArgument('client', client, RULE);
}

/** Throws if the host has no port, since grpc-js and this package have different default ports. */
function checkPort(host: string): void {
  if (!/:\d+\/?$/.test(host)) throw invalidArgument('hosts of client', host, 'are written host:port');
}
