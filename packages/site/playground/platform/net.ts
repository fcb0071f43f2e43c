/**
 * Replaces Node's checks for IP addresses, which always return false here: requests come from the page itself
 * and have no IP address.
 */
export const isIPv4 = (): boolean => false;
export const isIPv6 = (): boolean => false;
