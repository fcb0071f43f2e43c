import {
  checkedOptions,
  invalidArgument,
  parseBackendUrl,
  readPems,
  type KnownOptions,
  type PemFiles,
} from '@queuelock/core/backend';
import type { ConsulOptions } from './options.ts';

interface Parameters extends PemFiles {
  readonly dc?: string;
  readonly ns?: string;
  readonly partition?: string;
  readonly node?: string;
  readonly minTtlMs?: string;
}

const PARAMETERS: KnownOptions<Parameters> = {
  dc: 'string',
  ns: 'string',
  partition: 'string',
  node: 'string',
  minTtlMs: 'string',
  ca: 'string',
  cert: 'string',
  key: 'string',
};
const RULE = 'is written consul://:token@host:port/prefix or consuls://…';

/**
 * Parses a backend URL. The password in it is the ACL token, and a user name is ignored. No error message contains the token.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the URL or one of its parameters is invalid
 */
export function optionsOf(url: string): ConsulOptions {
  const { scheme, hosts, path, params, display, password } = parseBackendUrl(url);
  if (!['consul', 'consuls'].includes(scheme)) throw invalidArgument('backend URL', display, RULE);
  const parameters: Parameters = Object.fromEntries(params);
  const given = checkedOptions('parameters of a consul: URL', parameters, PARAMETERS);
  const { dc, ns, partition, node, minTtlMs, ...files } = given;
  const pems = readPems(files);
  if (scheme === 'consul' && Object.keys(pems).length > 0)
    throw invalidArgument('backend URL', display, 'begins with consuls:// when there are certificates');
  return {
    ...(hosts.length > 0 && { hosts }),
    ...(scheme === 'consuls' && { tls: pems }),
    ...(password !== undefined && { token: password }),
    ...(path !== '' && { prefix: path.endsWith('/') ? path : `${path}/` }),
    ...(dc !== undefined && { datacenter: dc }),
    ...(ns !== undefined && { namespace: ns }),
    ...(partition !== undefined && { partition }),
    ...(node !== undefined && { node }),
    ...(minTtlMs !== undefined && { minTtlMs: Number(minTtlMs) }),
  };
}
