import type { Clock, LockClient } from '@queuelock/core';
import {
  boundToCaller,
  checkedObject,
  checkedOptions,
  invalidArgument,
  systemClock,
  type KnownOptions,
} from '@queuelock/core/backend';
import { addressAndPrincipal, type ClientFacts } from './limits/client-id.ts';
import { filledLimits, type AllLimits, type BridgeLimits } from './limits/options.ts';
import { filled } from './filled.ts';
import type { Observable } from './rx.ts';
import type { ContendersAct, ContendersSnapshot, Snapshot, Topic } from './wire.ts';

/**
 * What a request does. `evict`, `ask`, `join` without a name: whether the client may do it at all. That is called for the page to show, and before the
 * body of such a request is read; so where it is refused, it is refused for every name. A prefix covers every queue whose name begins with it.
 */
export type Action =
  /** To read what the bridge is and what this client may do. */
  | { readonly kind: 'facts' }
  | { readonly kind: 'look'; readonly topic: Exclude<Topic, { kind: 'join' }> }
  | { readonly kind: 'evict' | 'ask' | 'join' | 'contend'; readonly name?: string };

/** Who is asking, as far as the host of the bridge knows. */
export interface Identity {
  /** Shown to everybody: as the owner of a place, and in front of the reason of an eviction. At most 80 characters. */
  readonly name: string;
}

/**
 * Decides whether a request may do this: `true`, or the identity of the client; every other value refuses. Called for every topic of a stream
 * and for everything that a request does: a `join` with a `request` needs `join` and `ask`. An error that it throws refuses too, and its text is
 * not sent. The body of the request is not its to read.
 */
export type Authorize = (request: Request, action: Action) => Answer | Promise<Answer>;

type Answer = boolean | Identity;

/** The bridge's times, in milliseconds. */
export interface BridgeTimes {
  /** Between two signs of life on a stream. A client counts it as stale after 2.5 of them. Default 5,000; 2,000 at most with a join. */
  readonly heartbeatMs?: number;
  /** How long a join is kept without a word from its page. Default 5,000. */
  readonly graceMs?: number;
  /** Between two snapshots of a topic at least; larger snapshots are sent more rarely, about a megabyte a second. Default 50. */
  readonly paceMs?: number;
  /** How long a queue is watched, and its past kept, when nobody looks any more. Default 60,000. */
  readonly lingerMs?: number;
  /** How long a client may take to read a snapshot before its stream is cut. Default 30,000. */
  readonly stuckMs?: number;
  /** Between two diagnoses of the store, while somebody looks at faults. Default 30,000. */
  readonly diagnoseEveryMs?: number;
  /** How long a client may take to send the body of a request. Default 10,000. */
  readonly bodyMs?: number;
}

/** Programs that stand in a queue for visitors to disturb: for demonstrations. */
export interface Contenders {
  /** The queue. */
  readonly name: string;
  /** Emits when there is something new to draw. Never errors. */
  readonly changed$: Observable<unknown>;
  /** As they are now. */
  readonly draw: () => Omit<ContendersSnapshot, keyof Snapshot | 'name'>;
  /** Does something to them. What it rejects with is the visitor's answer. */
  readonly act: (act: ContendersAct) => Promise<void>;
}

/** Settings of a bridge. */
export interface BridgeOptions {
  /** Looks and stands in line. Remains the caller's: close it after the bridge. */
  readonly client: LockClient;
  /** Who may do what: say `() => true` if everybody may who can reach it. */
  readonly authorize: Authorize;
  /** What the bridge looks at, shown to people. Without secrets. Default: nothing. */
  readonly place?: string;
  /** Where it is mounted: the beginning of its paths. Default `/queuelock`. */
  readonly basePath?: string;
  /** Names under which browsers may reach it, without ports: another one in `Host` is refused, against DNS rebinding. Default: those of the own machine. */
  readonly allowedHosts?: readonly string[];
  /** For visitors to disturb, if `authorize` lets them `contend`. Remain the caller's. Default: none. */
  readonly contenders?: Contenders;
  readonly limits?: BridgeLimits;
  /**
   * Names the client of a request, for the limits by client; `undefined`: only the limits of the bridge apply. Called before `authorize`, without a
   * principal, and after it. Default: the remote address (of IPv6 the first 64 bits) with the principal. Behind a proxy all requests have the
   * proxy's address: return what the proxy says of the client, for instance a header that it sets. What it throws is answered with 500.
   */
  readonly clientOf?: (request: Request, facts: ClientFacts) => string | undefined;
  readonly times?: BridgeTimes;
  /** For tests: the time that counts. Default: the machine's. */
  readonly clock?: Clock;
}

const OPTIONS: KnownOptions<BridgeOptions> = {
  client: 'object',
  authorize: 'any',
  place: 'string',
  basePath: 'string',
  allowedHosts: 'any',
  contenders: 'object',
  limits: 'object',
  clientOf: 'function',
  times: 'object',
  clock: 'object',
};

/** Options, checked and filled in. */
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

/** Checks the options and fills in the defaults. */
export function settingsOf(options: BridgeOptions): Settings {
  const {
    client,
    authorize,
    basePath = '/queuelock',
    allowedHosts = OWN_MACHINE,
  } = checkedOptions('options of createBridge', options, OPTIONS);
  checkedObject('client', client);
  if (typeof authorize !== 'function')
    throw invalidArgument('authorize', authorize, 'is a function: nobody is let in by accident');
  if (!/^(\/[\w.~-]+)*$/.test(basePath))
    throw invalidArgument('basePath', basePath, 'begins with a slash and ends without one');
  if (!Array.isArray(allowedHosts) || !allowedHosts.every((host) => typeof host === 'string'))
    throw invalidArgument('allowedHosts', allowedHosts, 'is a list of names');
  return {
    client,
    authorize,
    basePath,
    allowedHosts: allowedHosts.map((host) => host.toLowerCase()),
    place: options.place ?? '',
    contenders: options.contenders && drawnByCaller(options.contenders),
    clock: options.clock ?? systemClock(),
    clientOf: options.clientOf ?? ((_, facts) => addressAndPrincipal(facts)),
    limits: filledLimits(options.limits),
    times: filled('times', TIMES, options.times),
  };
}

/** Draws in the asynchronous context of the caller that makes the bridge, not in that of the request which happens to be served. */
function drawnByCaller(contenders: Contenders): Contenders {
  const { name, changed$ } = contenders;
  return {
    name,
    changed$,
    draw: boundToCaller(() => contenders.draw()),
    act: (act) => contenders.act(act),
  };
}
