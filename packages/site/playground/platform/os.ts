export const hostname = (): string => 'this page';

/** In seconds, sleep of the machine included, as far as the time of day tells. */
export const uptime = (): number => Date.now() / 1_000;
