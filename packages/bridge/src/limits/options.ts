import { checkedOptions, type KnownOptions } from '@queuelock/core/backend';
import { filled, numbersOf } from '../filled.ts';

/** What one client may use of a bridge at a time. Beyond it the client gets status 429. */
export interface ClientLimits {
  /** Open streams. Default 200. */
  readonly streams?: number;
  /** Distinct topics of its streams, for as long as it reads them and 5 s longer. Default 200. */
  readonly topics?: number;
  /** Of these: lists of queues, sessions, deadlocks, faults. Default 16. */
  readonly overviews?: number;
  /** Distinct queues that its topics watch one by one. Default 100. */
  readonly queues?: number;
  /** Places in queues. Default 100. */
  readonly joins?: number;
  /** Requests to holders that are not answered: by `ask`, and by a join with a `request`. Default 10. */
  readonly asks?: number;
  /** Bytes that were sent and are not read yet, in large snapshots. Default 8 MiB. */
  readonly bytes?: number;
  /** Request bodies that are being received. Default 16. */
  readonly bodies?: number;
  /**
   * Requests a second, five times as many at once; of touches and departures four times as many. Every eight topics of a stream count as
   * one request more. Default 100.
   */
  readonly requestsPerSecond?: number;
}

/** What a bridge takes upon itself at a time. Beyond it clients get status 503. */
export interface BridgeLimits {
  /** Open streams. Default 2,000. */
  readonly streams?: number;
  /** Distinct topics of all streams. Default 2,000. */
  readonly topics?: number;
  /** Of these: lists of queues, sessions, deadlocks, faults. Default 64. */
  readonly overviews?: number;
  /** Queues watched one by one. Default 500. */
  readonly queues?: number;
  /** Queues that one look over many goes into (sessions, deadlocks): the deepest. Default 200. */
  readonly deepest?: number;
  /** Queues in a list. Default 20,000. */
  readonly listed?: number;
  /** Places taken through the bridge, with those that have ended within the last minute. Default 1,000. */
  readonly joins?: number;
  /** Requests to holders that are not answered. Default 100. */
  readonly asks?: number;
  /** Bytes of large snapshots that are encoded and not read yet, each snapshot counted once; as many are kept for later readers. Default 32 MiB. */
  readonly bytes?: number;
  /** Request bodies that are being received. Default 200. */
  readonly bodies?: number;
  /** Bytes of a request body. Default 256 KiB. */
  readonly bodyBytes?: number;
  /** What one client may use of it. */
  readonly perClient?: ClientLimits;
}

/** Limits, filled in. */
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

/** Checks the limits, and fills in the defaults. */
export function filledLimits(limits: BridgeLimits | undefined): AllLimits {
  const known: KnownOptions<BridgeLimits> = { ...numbersOf(LIMITS), perClient: 'object' };
  const { perClient, ...rest } = checkedOptions('limits', limits, known);
  return {
    ...filled('limits', LIMITS, rest),
    perClient: filled('limits.perClient', CLIENT_LIMITS, perClient),
  };
}
