export const hostname = (): string => 'this page';

/** Returns the uptime in seconds, sleep of the machine included, by the time of day. */
export const uptime = (): number => Date.now() / 1_000;
