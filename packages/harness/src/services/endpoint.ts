/** Target of a request, and its source address. Without a source address the kernel chooses one. */
export interface Route {
  readonly host: string;
  readonly port: number;
  readonly localAddress?: string;
}

export function routeTo(endpoint: string | Route): Route {
  return typeof endpoint === 'string' ? splitEndpoint(endpoint) : endpoint;
}

/** Splits `host:port` (an IPv6 address is in brackets). Throws a TypeError on anything else. */
export function splitEndpoint(endpoint: string): { host: string; port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:/\s]+)):(\d{1,5})$/.exec(endpoint) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65_535) {
    throw new TypeError(`endpoint: "${endpoint}" is not host:port with a port from 1 to 65535`);
  }
  return { host, port };
}

/**
 * Splits a list of endpoints, `host:port,host:port`. Throws for an invalid list, with the name of its
 * `source` in the error.
 */
export function splitEndpoints(list: string, source: string): string[] {
  const endpoints = list
    .split(',')
    .map((endpoint) => endpoint.trim())
    .filter((endpoint) => endpoint !== '');
  try {
    endpoints.forEach(splitEndpoint);
  } catch (error) {
    throw new TypeError(`${source}: ${(error as Error).message}`, { cause: error });
  }
  if (endpoints.length === 0)
    throw new TypeError(`${source}: "${list}" names no endpoint; write host:port,host:port`);
  return endpoints;
}
