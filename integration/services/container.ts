import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import { GenericContainer, getContainerRuntimeClient, ImageName, Wait, type StartedTestContainer } from 'testcontainers';
import type { ContainerService } from './service.ts';
import { until } from './until.ts';

/** A server image: how it is configured, and how to tell that the server in it answers. */
export interface ServerImage {
  /** For errors. */
  readonly name: string;
  /** The environment variable that names the image. */
  readonly variable: string;
  /** Images to take without that, the first one that the engine has; the last one is pulled if it has none. */
  readonly images: readonly [string, ...string[]];
  readonly port: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Files to put into the container. */
  readonly files: readonly { readonly target: string; readonly content: string }[];
  /** A line of the server's log that comes when it is nearly ready. */
  readonly readyLine: RegExp;
  /** Answers with the version once the server serves requests; rejects before. */
  readonly probe: (endpoint: string) => Promise<string>;
}

const START_WITHIN_MS = 60_000;
/** On every container of ours: who started it. */
const OWNER = 'queuelock.test-server.owner';

/** Starts a container of the image. Rejects when there is no engine, no image, or when the server does not come up. */
export async function startContainer(image: ServerImage): Promise<ContainerService> {
  // Ryuk, which removes containers after a crash, is one more image to pull: only those who ask for it get it.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  const name = await chooseImage(image);
  await removeOrphans();
  const log: string[] = [];
  try {
    // A new builder each time: it keeps what the last start told it.
    const started = await new GenericContainer(name)
      .withLabels({ [OWNER]: owner() })
      .withEnvironment({ ...image.environment })
      .withCopyContentToContainer([...image.files])
      .withExposedPorts(image.port)
      .withWaitStrategy(Wait.forLogMessage(image.readyLine))
      .withStartupTimeout(START_WITHIN_MS)
      .withLogConsumer((stream) => createInterface(stream).on('line', (line) => log.push(line)))
      .start();
    return await ContainerServer.of(started, image);
  } catch (error) {
    const tail = log.slice(-40).join('\n') || 'it printed nothing';
    throw new Error(`${image.name} in ${name}: ${(error as Error).message}; the end of its log:\n${tail}`, { cause: error });
  }
}

/** Removes every container that this process started and did not stop. */
export async function removeContainers(): Promise<void> {
  await removeOwned((by) => by === owner());
}

class ContainerServer implements ContainerService {
  readonly way = 'container';
  version = '';
  readonly #started: StartedTestContainer;
  readonly #image: ServerImage;
  #stopped = false;
  #paused = false;

  static async of(started: StartedTestContainer, image: ServerImage): Promise<ContainerServer> {
    const server = new ContainerServer(started, image);
    try {
      await server.#answers();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  private constructor(started: StartedTestContainer, image: ServerImage) {
    this.#started = started;
    this.#image = image;
  }

  get id(): string {
    return this.#started.getId();
  }

  get endpoint(): string {
    const host = this.#started.getHost();
    // The engine may publish on IPv4 only, and `localhost` may mean IPv6 first.
    return `${host === 'localhost' ? '127.0.0.1' : host}:${this.#started.getMappedPort(this.#image.port)}`;
  }

  get endpoints(): readonly string[] {
    return [this.endpoint];
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await this.thaw();
    await (await engine()).getContainer(this.id).remove({ force: true, v: true });
  }

  async kill(): Promise<void> {
    await this.thaw();
    const container = (await engine()).getContainer(this.id);
    const gone = container.wait();
    await container.kill({ signal: 'SIGKILL' });
    await gone;
  }

  async freeze(): Promise<void> {
    await (await engine()).getContainer(this.id).pause();
    this.#paused = true;
  }

  async thaw(): Promise<void> {
    if (!this.#paused) return;
    await (await engine()).getContainer(this.id).unpause();
    this.#paused = false;
  }

  async restart(): Promise<void> {
    await this.thaw();
    await this.#started.restart({ timeout: 2_000 });
    await this.#answers();
  }

  async #answers(): Promise<void> {
    const { name, probe } = this.#image;
    const what = `${name} answers on ${this.endpoint}`;
    this.version = await until(() => probe(this.endpoint), { what, withinMs: START_WITHIN_MS });
  }
}

type Engine = Awaited<ReturnType<typeof getContainerRuntimeClient>>['container']['dockerode'];

async function engine(): Promise<Engine> {
  return (await getContainerRuntimeClient()).container.dockerode;
}

async function chooseImage({ variable, images }: ServerImage): Promise<string> {
  const named = process.env[variable];
  if (named) return named;
  const client = await getContainerRuntimeClient();
  for (const image of images) {
    if (await client.image.exists(ImageName.fromString(image))) return image;
  }
  return images.at(-1)!;
}

function owner(): string {
  return `${hostname()}/${process.pid}`;
}

// Containers of processes of this machine that ended without their teardown.
async function removeOrphans(): Promise<void> {
  await removeOwned((by) => {
    const [host, pid] = by.split('/');
    return host === hostname() && !isAlive(Number(pid));
  });
}

async function removeOwned(matches: (owner: string) => boolean): Promise<void> {
  const docker = await engine();
  const containers = await docker.listContainers({ all: true, filters: { label: [OWNER] } });
  const doomed = containers.filter(({ Labels }) => matches(Labels[OWNER] ?? ''));
  await Promise.all(doomed.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true })));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
