/** Where a request goes, and which of our addresses it comes from; without one the kernel chooses. */
export interface Route {
  readonly host: string;
  readonly port: number;
  readonly localAddress?: string;
}

export function routeTo(endpoint: string | Route): Route {
  return typeof endpoint === 'string' ? splitEndpoint(endpoint) : endpoint;
}

/** Takes `host:port` (an IPv6 address in brackets) apart. Throws a TypeError on anything else. */
export function splitEndpoint(endpoint: string): { host: string; port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:/\s]+)):(\d{1,5})$/.exec(endpoint) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65_535) {
    throw new TypeError(`endpoint: "${endpoint}" is not host:port with a port from 1 to 65535`);
  }
  return { host, port };
}

/** Takes a list `host:port,host:port` apart; `source` is where it stands, for the error. */
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
