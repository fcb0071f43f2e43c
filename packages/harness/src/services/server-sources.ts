import { splitEndpoints } from './endpoint.ts';
import {
  NotHere,
  type ContainerService,
  type ExternalService,
  type ProcessService,
  type ServiceOf,
  type Way,
} from './service.ts';

/** The ways to get a running server of one kind, such as etcd or Redis. */
export interface ServerSources {
  readonly name: string;
  /** Environment variable that names the addresses of running servers. */
  readonly variable: string;
  /** Debian packages that contain the programs of the server. */
  readonly debian: string;
  /** Whether the caller needs custom settings, which an external server would not have. */
  readonly custom: boolean;
  /**
   * Resolves with the version of a server at the address `endpoint`. Rejects when the server does not serve
   * requests.
   */
  readonly version: (endpoint: string) => Promise<string>;
  /** Returns whether this machine has the programs of the server. */
  readonly isHere: () => Promise<boolean>;
  /** Installs the programs of the server. Rejects with NotHere when that is not possible. */
  readonly install: () => Promise<void>;
  readonly startProcess: () => Promise<ProcessService>;
  /** Starts a container. Rejects with NotHere when there is no engine or no image. */
  readonly startContainer: () => Promise<ContainerService>;
}

/**
 * Tries the ways to get a server one after another (endpoints, process, container), or only the forced way.
 * If no way is available, rejects with one line that lists all missing programs. If a server is installed but
 * does not start, rejects without trying the next way.
 */
export async function startFirstAvailable<W extends Way>(
  forced: W | undefined,
  ways: ServerSources,
): Promise<ServiceOf[W]> {
  const order: Way[] = forced === undefined ? ['endpoints', 'process', 'container'] : [forced];
  const missing: string[] = [];
  for (const way of order) {
    try {
      // The type cast is safe: the type parameter W is the forced way, or the union of all ways if none is
      // forced.
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

const starters: { readonly [W in Way]: (ways: ServerSources) => Promise<ServiceOf[W]> } = {
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
  { name, variable, version }: Pick<ServerSources, 'name' | 'variable' | 'version'>,
): Promise<ExternalService> {
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
