import { splitEndpoints } from './endpoint.ts';
import {
  NotHere,
  type ContainerService,
  type GivenService,
  type ProcessService,
  type ServiceOf,
  type Way,
} from './service.ts';

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
  /** Installs the programs; rejects with NotHere when that cannot be done. */
  readonly install: () => Promise<void>;
  readonly startProcess: () => Promise<ProcessService>;
  /** Rejects with NotHere when there is no engine or no image. */
  readonly startContainer: () => Promise<ContainerService>;
}

/**
 * Goes through the ways in their order, or takes the forced one. Rejects with all that is missing, in one line, when no
 * way is open. A server that is here and does not come up is an error of its own: the next way is not tried.
 */
export async function startFirstWay<W extends Way>(forced: W | undefined, ways: Ways): Promise<ServiceOf[W]> {
  const order: Way[] = forced === undefined ? ['endpoints', 'process', 'container'] : [forced];
  const missing: string[] = [];
  for (const way of order) {
    try {
      // A forced way is the only one in the order, and without force W stands for all of them.
      return (await starters[way](ways)) as ServiceOf[W];
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      missing.push(`${way}: ${error.message}`);
    }
  }
  throw new NotHere(
    `no ${ways.name} server to test with (${missing.join('; ')}). ` +
      `Install it (Debian: apt-get install ${ways.debian}) or name a running one in ${ways.variable}=host:port`,
  );
}

const starters: { readonly [W in Way]: (ways: Ways) => Promise<ServiceOf[W]> } = {
  endpoints: async ({ name, variable, custom, version }) => {
    const list = process.env[variable];
    if (!list) throw new NotHere(`${variable} is not set`);
    if (custom) throw new NotHere(`the server in ${variable} need not have the settings that are asked for`);
    return giveEndpoints(splitEndpoints(list, variable), { name, variable, version });
  },
  process: async ({ isHere, install, startProcess }) => {
    if (!(await isHere())) await install();
    return startProcess();
  },
  container: ({ startContainer }) => startContainer(),
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
