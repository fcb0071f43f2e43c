import type { Command } from '../services/child.ts';

/**
 * Excludes addresses of network namespaces from HTTP proxies. Go and gRPC use the proxy of the variable
 * http_proxy for every address that is not loopback, but no proxy can reach these addresses.
 */

const VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy', 'grpc_proxy'];
const NONE = Object.fromEntries(
  VARIABLES.flatMap((name) => [name, name.toUpperCase()]).map((name) => [name, '']),
);

/** Returns the command with environment variables that switch off the HTTP proxy. */
export function withoutHttpProxy(command: Command): Command {
  return { ...command, env: { ...command.env, ...NONE } };
}

/**
 * Adds the hosts to the exceptions of the environment's proxy, if the environment names a proxy. gRPC reads
 * its exceptions from the variable no_grpc_proxy.
 */
export function exemptHosts(env: NodeJS.ProcessEnv, hosts: readonly string[]): void {
  if (!VARIABLES.some((name) => env[name] || env[name.toUpperCase()])) return;
  for (const list of ['no_proxy', 'NO_PROXY', 'no_grpc_proxy']) {
    const before = env[list] ?? (list === 'no_grpc_proxy' ? env['no_proxy'] : undefined) ?? '';
    env[list] = [...new Set([...before.split(',').filter(Boolean), ...hosts])].join(',');
  }
}
