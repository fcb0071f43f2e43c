export const hostname = (): string => 'this page';

/**
 * Returns a time in seconds that continues while the machine sleeps, as Node's `uptime` does. It is computed
 * from the time of day.
 */
export const uptime = (): number => Date.now() / 1_000;
