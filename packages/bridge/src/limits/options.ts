import { checkedOptions, type KnownOptions } from '@queuelock/core/backend';
import { filled, numbersOf } from '../filled.ts';

/** Limits on what one client may use at the same time. A request that exceeds a limit gets status 429. */
export interface ClientLimits {
  /** Largest number of open streams of one client. Default 200. */
  readonly streams?: number;
  /** Largest number of distinct topics in all streams of one client. Default 200. */
  readonly topics?: number;
  /**
   * Largest number of a client's topics that are overviews: lists of queues, sessions, deadlocks, faults.
   * Default 16.
   */
  readonly overviews?: number;
  /**
   * Largest number of queues whose entries one client watches. Several topics of one queue count once.
   * Default 100.
   */
  readonly queues?: number;
  /** Largest number of joins of one client. Default 100. */
  readonly joins?: number;
  /**
   * Largest number of handover requests of one client that have no answer yet. They are sent by
   * `BridgeClient.ask` and by joins with a `request`. Default 10.
   */
  readonly asks?: number;
  /**
   * Largest number of bytes of snapshots over 16 KiB that were sent to one client and that it has not read
   * yet. Default 8 MiB.
   */
  readonly bytes?: number;
  /** Largest number of request bodies that are being received from one client. Default 16. */
  readonly bodies?: number;
  /**
   * Largest number of requests that one client may make in a second, with a burst of five times as many.
   * Touches and leave requests have four times this rate. Every eight topics of a stream count as one more
   * request. Default 100.
   */
  readonly requestsPerSecond?: number;
}

/** Limits for the simultaneous use of the whole bridge. A request beyond them gets status 503. */
export interface BridgeLimits {
  /** Largest number of open streams of all clients. Default 2,000. */
  readonly streams?: number;
  /** Largest number of distinct topics in the streams of all clients. Default 2,000. */
  readonly topics?: number;
  /**
   * Largest number of topics of all clients that are overviews: lists of queues, sessions, deadlocks, faults.
   * Default 64.
   */
  readonly overviews?: number;
  /** Largest number of queues whose entries the bridge watches for its clients. Default 500. */
  readonly queues?: number;
  /**
   * Largest number of queues that one overview (sessions, deadlocks) reads. It reads those with the most
   * entries. Default 200.
   */
  readonly deepest?: number;
  /** Largest number of queues in one list of queues. Default 20,000. */
  readonly listed?: number;
  /**
   * Largest number of joins of all clients, including those that have ended within the last minute. Default
   * 1,000.
   */
  readonly joins?: number;
  /** Largest number of handover requests of all clients that have no answer yet. Default 100. */
  readonly asks?: number;
  /**
   * Largest number of bytes of snapshots over 16 KiB that are encoded and not read yet. Each snapshot counts
   * once. The same number of bytes is cached for pages that subscribe later. Default 32 MiB.
   */
  readonly bytes?: number;
  /** Largest number of request bodies that are being received from all clients. Default 200. */
  readonly bodies?: number;
  /** Largest number of bytes of a request body. Default 256 KiB. */
  readonly bodyBytes?: number;
  /** Limits for each client of the bridge. */
  readonly perClient?: ClientLimits;
}

/** Limits for clients and for the bridge, with all defaults filled in. */
export type AllLimits = Required<Omit<BridgeLimits, 'perClient'>> & {
  readonly perClient: Required<ClientLimits>;
};

const LIMITS: Required<Omit<BridgeLimits, 'perClient'>> = {
  streams: 2_000,
  topics: 2_000,
  overviews: 64,
  queues: 500,
  deepest: 200,
  listed: 20_000,
  joins: 1_000,
  asks: 100,
  bytes: 33_554_432,
  bodies: 200,
  bodyBytes: 262_144,
};

const CLIENT_LIMITS: Required<ClientLimits> = {
  streams: 200,
  topics: 200,
  overviews: 16,
  queues: 100,
  joins: 100,
  asks: 10,
  bytes: 8_388_608,
  bodies: 16,
  requestsPerSecond: 100,
};

/** Validates the limits for clients and for the bridge, and fills in the defaults. */
export function filledLimits(limits: BridgeLimits | undefined): AllLimits {
  const known: KnownOptions<BridgeLimits> = { ...numbersOf(LIMITS), perClient: 'object' };
  const { perClient, ...rest } = checkedOptions('limits', limits, known);
  return {
    ...filled('limits', LIMITS, rest),
    perClient: filled('limits.perClient', CLIENT_LIMITS, perClient),
  };
}
