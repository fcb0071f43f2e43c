/** Requests come from the page itself and have no IP address, so both functions return false. */
export const isIPv4 = (): boolean => false;
export const isIPv6 = (): boolean => false;
