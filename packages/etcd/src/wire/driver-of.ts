import type { Driver } from '../driver/driver.ts';
import type { CheckedOptions } from '../api/options.ts';
import type { Failures } from '../driver/member-circuit-breaker.ts';

/** Creates the driver of one member, given as `host:port`. `failures` counts the failed connections to all members, so their drivers share it. */
export type DriverOf = (host: string, options: CheckedOptions, failures: Failures) => Driver;
