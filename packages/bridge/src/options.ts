import type { Clock, LockClient } from '@queuelock/core';
import {
  boundToCaller,
  checkedObject,
  checkedOptions,
  invalidArgument,
  systemClock,
  type KnownOptions,
} from '@queuelock/core/backend';
import { addressAndPrincipal, type ClientFacts, type ConnectionFacts } from './limits/client-id.ts';
import { filledLimits, type AllLimits, type BridgeLimits } from './limits/options.ts';
import { filled } from './filled.ts';
import type { Observable } from './rx.ts';
import type { ContendersAct, ContendersSnapshot, Snapshot, Topic } from './wire.ts';

/**
 * An action of a request, for `authorize` to allow or refuse. An `evict`, `ask` or `join` without a name
 * means these actions on all queues. The bridge checks that to show permissions, and before it reads the body
 * of a request. If it is allowed, the action is checked again with its name. To `watch` a topic with a prefix
 * means to see every queue whose name begins with that prefix.
 */
export type Action =
  /**
   * To read `BridgeFacts`: the token for writes and the description of the store, for instance, and the
   * permissions of the client that sent the request.
   */
  | { readonly kind: 'facts' }
  | { readonly kind: 'watch'; readonly topic: Exclude<Topic, { kind: 'join' }> }
  | { readonly kind: 'evict' | 'ask' | 'join' | 'contend'; readonly name?: string };

/** The user who sent a request, as far as the host knows. */
export interface Identity {
  /**
   * Name for display: it becomes the owner of an entry, and is shown before the reason of an eviction. At
   * most 80 characters.
   */
  readonly name: string;
}

/**
 * Decides whether a request may perform an action. Return `true` or the identity of the client to allow the
 * action; every other value refuses it. The function is called for every topic of a stream and every action
 * of a request: a `join` with a `request` needs `join` and `ask`. If the function throws, the action is
 * refused, and the error's text is not sent. The function must not read the body of the request. Behind
 * `nodeListener`, `connection.incoming` is the request of the host with everything that middleware added,
 * such as `user` of Express.
 */
export type Authorize = (
  request: Request,
  action: Action,
  connection: ConnectionFacts,
) => Answer | Promise<Answer>;

type Answer = boolean | Identity;

/** Intervals and time limits of the bridge, in milliseconds. */
export interface BridgeTimes {
  /**
   * Interval between heartbeats of a stream. A client treats the stream as stale after 2.5 heartbeats without
   * data. Default 5,000; at most 2,000 for a page with a join.
   */
  readonly heartbeatMs?: number;
  /** Longest silence of a page before the bridge ends its join. Default 5,000. */
  readonly graceMs?: number;
  /**
   * Shortest interval between two snapshots of a topic. Larger snapshots are sent less often, so that a topic
   * sends about a megabyte a second. Default 50.
   */
  readonly paceMs?: number;
  /** Time for which a queue that no page shows is still watched and its history kept. Default 60,000. */
  readonly lingerMs?: number;
  /** Longest time that a client may take to read a snapshot before its stream is cut. Default 30,000. */
  readonly stuckMs?: number;
  /** Interval between two diagnoses of the store, while a page shows faults. Default 30,000. */
  readonly diagnoseEveryMs?: number;
  /** Longest time that a client may take to send the body of a request. Default 10,000. */
  readonly bodyMs?: number;
}

/** Demo programs that contend for a lock, which visitors may disturb. */
export interface Contenders {
  /** Name of the queue for which the demo programs contend. */
  readonly name: string;
  /** Emits after each change of the state that `draw` returns. Never errors. */
  readonly changed$: Observable<unknown>;
  /** Returns the current state of the demo programs. */
  readonly draw: () => Omit<ContendersSnapshot, keyof Snapshot | 'name'>;
  /**
   * Applies an action of a visitor to the demo programs. If the promise rejects, the visitor receives the
   * error.
   */
  readonly act: (act: ContendersAct) => Promise<void>;
}

/** Options of a bridge. */
export interface BridgeOptions {
  /** Lock client that watches and joins queues. The caller closes it after the bridge. */
  readonly client: LockClient;
  /** Decides what each request may do. Pass `() => true` if every client that can connect may do everything. */
  readonly authorize: Authorize;
  /** Description of the store for display, without secrets. Default: empty. */
  readonly storeLabel?: string;
  /** Path where the bridge is mounted. Default `/queuelock`. */
  readonly basePath?: string;
  /**
   * Host names by which browsers may reach the bridge, without ports. A request with another `Host` is
   * refused, as a protection against DNS rebinding. Default: the names of the local machine.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Demo programs that visitors may disturb if `authorize` allows `contend`. The caller closes them. Default:
   * none.
   */
  readonly contenders?: Contenders;
  readonly limits?: BridgeLimits;
  /**
   * Returns the id under which `limits.perClient` counts the client. For `undefined`, only the limits of the
   * bridge apply. Called before `authorize`, and again after it with the name that it returned (the
   * principal). Default: the remote address (of IPv6 the first 64 bits) with the principal. Behind a proxy
   * all requests have the proxy's address: return what the proxy reports about the client, for instance a
   * header that it sets. An error that it throws becomes status 500.
   */
  readonly clientOf?: (request: Request, facts: ClientFacts) => string | undefined;
  readonly times?: BridgeTimes;
  /** Replaces the machine's clock, for tests. */
  readonly clock?: Clock;
}

const OPTIONS: KnownOptions<BridgeOptions> = {
  client: 'object',
  authorize: 'any',
  storeLabel: 'string',
  basePath: 'string',
  allowedHosts: 'any',
  contenders: 'object',
  limits: 'object',
  clientOf: 'function',
  times: 'object',
  clock: 'object',
};

/** Validated options of the bridge, with all defaults filled in. */
export interface Settings extends Required<Omit<BridgeOptions, 'contenders' | 'limits' | 'times'>> {
  readonly contenders: Contenders | undefined;
  readonly limits: AllLimits;
  readonly times: Required<BridgeTimes>;
}

const TIMES: Required<BridgeTimes> = {
  heartbeatMs: 5_000,
  graceMs: 5_000,
  paceMs: 50,
  lingerMs: 60_000,
  stuckMs: 30_000,
  diagnoseEveryMs: 30_000,
  bodyMs: 10_000,
};

const OWN_MACHINE = ['localhost', '127.0.0.1', '[::1]'];

/** Validates the options of the bridge, and fills in the defaults. */
export function settingsOf(options: BridgeOptions): Settings {
  const {
    client,
    authorize,
    basePath = '/queuelock',
    allowedHosts = OWN_MACHINE,
  } = checkedOptions('options of createBridge', options, OPTIONS);
  checkedObject('client', client);
  if (typeof authorize !== 'function')
    throw invalidArgument(
      'authorize',
      authorize,
      'is a function, without a default, so that access is never open by mistake',
    );
  if (!/^(\/[\w.~-]+)*$/.test(basePath))
    throw invalidArgument('basePath', basePath, 'begins with a slash and ends without one');
  if (!Array.isArray(allowedHosts) || !allowedHosts.every((host) => typeof host === 'string'))
    throw invalidArgument('allowedHosts', allowedHosts, 'is a list of names');
  return {
    client,
    authorize,
    basePath,
    allowedHosts: allowedHosts.map((host) => host.toLowerCase()),
    storeLabel: options.storeLabel ?? '',
    contenders: options.contenders && drawnByCaller(options.contenders),
    clock: options.clock ?? systemClock(),
    clientOf: options.clientOf ?? ((_, facts) => addressAndPrincipal(facts)),
    limits: filledLimits(options.limits),
    times: filled('times', TIMES, options.times),
  };
}

/**
 * Returns the demo programs with a `draw` function that runs in the asynchronous context in which the bridge
 * was created. Otherwise it would run in the context of the current request.
 */
function drawnByCaller(contenders: Contenders): Contenders {
  const { name, changed$ } = contenders;
  return {
    name,
    changed$,
    draw: boundToCaller(() => contenders.draw()),
    act: (act) => contenders.act(act),
  };
}
