import type { Clock, LockClient } from '@queuelock/core';
import {
  checkedObject,
  checkedOptions,
  invalidArgument,
  systemClock,
  type KnownOptions,
} from '@queuelock/core/backend';
import type { Observable } from './rx.ts';
import type { ContendersAct, ContendersPicture, Picture, Topic } from './wire.ts';

/** What somebody wants to do. Without a name: whether they may at all, for the page to show. */
export type Action =
  /** To ask what the bridge is and what they may do. */
  | { readonly kind: 'facts' }
  | { readonly kind: 'look'; readonly topic: Exclude<Topic, { kind: 'join' }> }
  | { readonly kind: 'evict' | 'ask' | 'join' | 'contend'; readonly name?: string };

/** Who is asking, as far as the host of the bridge knows. */
export interface Identity {
  /** Shown to everybody: as the owner of a place, and in front of the reason of an eviction. At most 80 characters. */
  readonly name: string;
}

/**
 * Whether a request may do this: `true`, or who it is; `false` refuses. Called for every topic of a stream and for every act. What it
 * throws refuses too, and is not told.
 */
export type Authorize = (request: Request, action: Action) => Answer | Promise<Answer>;

type Answer = boolean | Identity;

/** How much a bridge takes upon itself. */
export interface BridgeLimits {
  /** Streams open at a time. Default 2,000. */
  readonly streams?: number;
  /** Queues watched one by one at a time. Default 500. */
  readonly queues?: number;
  /** Queues that one look over many goes into (sessions, deadlocks): the deepest. Default 200. */
  readonly deepest?: number;
  /** Queues in a list. Default 20,000. */
  readonly listed?: number;
  /** Places taken through the bridge at a time. Default 1,000. */
  readonly joins?: number;
  /** Requests to holders (`ask`) at a time. Default 100. */
  readonly asks?: number;
}

/** The bridge's times, in milliseconds. */
export interface BridgeTimes {
  /** Between two signs of life on a stream. A client counts it as stale after 2.5 of them. Default 5,000; 2,000 at most with a join. */
  readonly heartbeatMs?: number;
  /** How long a join is kept without a word from its page. Default 5,000. */
  readonly graceMs?: number;
  /** Between two pictures of a topic at least; larger pictures are sent more rarely, about a megabyte a second. Default 50. */
  readonly paceMs?: number;
  /** How long a queue is watched, and its past kept, when nobody looks any more. Default 60,000. */
  readonly lingerMs?: number;
  /** How long a client may take to read a picture before its stream is cut. Default 30,000. */
  readonly stuckMs?: number;
  /** Between two examinations of the store, while somebody looks at faults. Default 30,000. */
  readonly examineMs?: number;
}

/** Programs that stand in a queue for visitors to disturb: for demonstrations. */
export interface Contenders {
  /** The queue. */
  readonly name: string;
  /** Emits when there is something new to draw. Never errors. */
  readonly changed$: Observable<unknown>;
  /** As they are now. */
  readonly draw: () => Omit<ContendersPicture, keyof Picture | 'name'>;
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
  times: 'object',
  clock: 'object',
};

/** Options, checked and filled in. */
export interface Settings extends Required<Omit<BridgeOptions, 'contenders' | 'limits' | 'times'>> {
  readonly contenders: Contenders | undefined;
  readonly limits: Required<BridgeLimits>;
  readonly times: Required<BridgeTimes>;
}

const LIMITS: Required<BridgeLimits> = {
  streams: 2_000,
  queues: 500,
  deepest: 200,
  listed: 20_000,
  joins: 1_000,
  asks: 100,
};

const TIMES: Required<BridgeTimes> = {
  heartbeatMs: 5_000,
  graceMs: 5_000,
  paceMs: 50,
  lingerMs: 60_000,
  stuckMs: 30_000,
  examineMs: 30_000,
};

/** Shorter ones would be all that a bridge has time for. */
const SHORTEST: Readonly<Record<string, number>> = {
  heartbeatMs: 100,
  graceMs: 500,
  stuckMs: 1_000,
  examineMs: 1_000,
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
    contenders: options.contenders,
    clock: options.clock ?? systemClock(),
    limits: filled('limits', LIMITS, options.limits),
    times: filled('times', TIMES, options.times),
  };
}

function filled<T extends object>(what: string, defaults: Required<T>, given: T | undefined): Required<T> {
  const types = Object.fromEntries(Object.keys(defaults).map((key) => [key, 'number']));
  const checked = checkedOptions(what, given, types as KnownOptions<T>);
  const present = Object.entries<unknown>({ ...checked }).filter(([, value]) => value !== undefined);
  for (const [key, value] of present) {
    const least = SHORTEST[key] ?? 0;
    if (!Number.isInteger(value) || Number(value) < least || Number(value) > 2_147_483_647)
      throw invalidArgument(`${what}.${key}`, value, `is a whole number of at least ${String(least)}`);
  }
  return { ...defaults, ...Object.fromEntries(present) };
}
