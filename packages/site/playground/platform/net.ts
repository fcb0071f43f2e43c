/** Requests here come from the page itself, and have no address. */
export const isIPv4 = (): boolean => false;
export const isIPv6 = (): boolean => false;
