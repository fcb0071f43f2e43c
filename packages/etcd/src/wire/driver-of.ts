import type { Driver } from '../driver/driver.ts';
import type { CheckedOptions } from '../api/options.ts';
import type { Failures } from '../driver/member-circuit-breaker.ts';

/** Returns the driver of one member, `host:port`. The members of a cluster share the count of failures. */
export type DriverOf = (host: string, options: CheckedOptions, failures: Failures) => Driver;
