import type { Driver } from '../driver/driver.ts';
import type { CheckedOptions } from '../api/options.ts';
import type { Failures } from '../driver/member-circuit-breaker.ts';

/** Creates the driver of one member, given as `host:port`. The drivers of all members share one count of failed connections, for the backoff. */
export type DriverOf = (host: string, options: CheckedOptions, failures: Failures) => Driver;
