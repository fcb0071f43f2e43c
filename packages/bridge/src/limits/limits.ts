import { Quota, type QuotaSpec } from './quota.ts';
import { RequestRate } from './request-rate.ts';
import type { Clock } from '@queuelock/core';
import type { AllLimits, BridgeLimits, ClientLimits } from './options.ts';

/**
 * All limits that a bridge applies by client: of resources in use (quotas), and of requests per second
 * (rates).
 */
export interface Limits {
  readonly streams: Quota;
  readonly topics: Quota;
  readonly overviews: Quota;
  readonly queues: Quota;
  readonly joins: Quota;
  readonly asks: Quota;
  readonly bodies: Quota;
  readonly rate: RequestRate;
  /**
   * Rate of touches and leave requests. It is separate, so that a page which exceeds its rate of other
   * requests keeps its joins and can leave.
   */
  readonly touchRate: RequestRate;
}

const TOUCHES_PER_REQUEST = 4;

/** Creates the quotas and rates that the options describe. All counts begin at zero. */
export function limitsOf(limits: AllLimits, clock: Clock): Limits {
  const { perClient } = limits;
  const quota = (option: keyof ClientLimits & keyof BridgeLimits): Quota =>
    new Quota({ option, perBridge: limits[option], perClient: perClient[option] } satisfies QuotaSpec);
  return {
    streams: quota('streams'),
    topics: quota('topics'),
    overviews: quota('overviews'),
    queues: quota('queues'),
    joins: quota('joins'),
    asks: quota('asks'),
    bodies: quota('bodies'),
    rate: new RequestRate(perClient.requestsPerSecond, clock),
    touchRate: new RequestRate(TOUCHES_PER_REQUEST * perClient.requestsPerSecond, clock),
  };
}
