import { splitEndpoints } from './endpoint.ts';
import type { ContainerService, GivenService, ProcessService, ServiceOf, Way } from './service.ts';

/** How a kind of server can be had. */
export interface Ways {
  readonly name: string;
  /** The environment variable that names running servers. */
  readonly variable: string;
  /** The Debian packages that bring the programs. */
  readonly debian: string;
  /** Whether the caller asks for settings, which a given server would not have. */
  readonly custom: boolean;
  /** Asks a server at this address which version it is; rejects when it does not serve requests. */
  readonly version: (endpoint: string) => Promise<string>;
  /** Whether the programs are on this machine. */
  readonly isHere: () => Promise<boolean>;
  /** Installs the programs; rejects with the reason when that cannot be done. */
  readonly install: () => Promise<void>;
  readonly startProcess: () => Promise<ProcessService>;
  readonly startContainer: () => Promise<ContainerService>;
}

/** Goes through the ways in their order, or takes the forced one. Rejects with everything that was missing, in one line. */
export async function startFirstWay<W extends Way>(forced: W | undefined, ways: Ways): Promise<ServiceOf[W]> {
  const order: Way[] = forced === undefined ? ['endpoints', 'process', 'container'] : [forced];
  const missing: string[] = [];
  for (const way of order) {
    const service = await starters[way](ways);
    // A forced way is the only one in the order, and without force W stands for all of them.
    if (typeof service !== 'string') return service as ServiceOf[W];
    missing.push(`${way}: ${service}`);
  }
  throw new Error(
    `no ${ways.name} server to test with (${missing.join('; ')}). ` +
      `Install it (Debian: apt-get install ${ways.debian}) or name a running one in ${ways.variable}=host:port`,
  );
}

/** Each answers with the service or with the reason why this way is not open here. */
const starters: { readonly [W in Way]: (ways: Ways) => Promise<ServiceOf[W] | string> } = {
  endpoints: async ({ name, variable, custom, version }) => {
    const list = process.env[variable];
    if (!list) return `${variable} is not set`;
    if (custom) return `the caller asks for settings that the server in ${variable} need not have`;
    return giveEndpoints(splitEndpoints(list, variable), { name, variable, version });
  },
  process: async ({ isHere, install, startProcess }) => {
    if (await isHere()) return startProcess();
    try {
      await install();
    } catch (error) {
      return `not installed, and ${(error as Error).message}`;
    }
    return startProcess();
  },
  container: async ({ startContainer }) => {
    try {
      return await startContainer();
    } catch (error) {
      return (error as Error).message;
    }
  },
};

async function giveEndpoints(
  endpoints: readonly string[],
  { name, variable, version }: Pick<Ways, 'name' | 'variable' | 'version'>,
): Promise<GivenService> {
  const versions = await Promise.all(
    endpoints.map((endpoint) =>
      version(endpoint).catch((error: unknown) => {
        throw new Error(`${variable}: no ${name} serves requests at ${endpoint}`, { cause: error });
      }),
    ),
  );
  return {
    way: 'endpoints',
    endpoints,
    endpoint: endpoints[0]!,
    version: versions[0]!,
    stop: () => Promise.resolve(),
  };
}
