import { randomUUID } from 'node:crypto';
import {
  GenericContainer,
  getContainerRuntimeClient,
  ImageName,
  Wait,
  type StartedTestContainer,
} from 'testcontainers';
import { engine, labelsOf, prepareCleanUp, remove, removeFailed } from './container-cleanup.ts';
import { NotHere, type ContainerService } from './service.ts';
import { until } from './until.ts';

/** A server image: its configuration, and the probe that detects that its server responds. */
export interface ServerImage {
  /** Name of the server in the image, for errors. */
  readonly name: string;
  /** Environment variable that selects the image. */
  readonly variable: string;
  /**
   * Default images. The first one that exists on the machine is used; if none exists, the last one is pulled.
   */
  readonly images: readonly [string, ...string[]];
  readonly port: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Files to copy into the container before it starts. */
  readonly files: readonly { readonly target: string; readonly content: string }[];
  /** Resolves with the version once the server serves requests; rejects before. */
  readonly probe: (endpoint: string) => Promise<string>;
}

const START_WITHIN_MS = 60_000;

/** Starts a container of the image. Rejects with NotHere when there is no engine or no image. */
export async function startContainer(image: ServerImage): Promise<ContainerService> {
  // Switches the container Ryuk off unless the environment requests it. Ryuk removes containers after a crash, but is one more image to pull.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  const name = await chooseImage(image);
  await prepareCleanUp();
  const start = randomUUID();
  try {
    // Creates a new builder each time, because a builder keeps state of its last start.
    const started = await new GenericContainer(name)
      .withLabels(labelsOf(start))
      .withEnvironment({ ...image.environment })
      .withCopyContentToContainer([...image.files])
      .withExposedPorts(image.port)
      // Waits only for the first line of the server's log. Afterwards a probe detects that the server is
      // ready. If a wait strategy of testcontainers failed, it would remove the container before its log is
      // read.
      .withWaitStrategy(Wait.forLogMessage(/./))
      .withStartupTimeout(START_WITHIN_MS)
      .start();
    const server = new ContainerServer(started, image);
    await server.answers();
    return server;
  } catch (error) {
    const log = await removeFailed(start);
    throw new Error(`${image.name} in ${name}: ${(error as Error).message}; the end of its log:\n${log}`, {
      cause: error,
    });
  }
}

class ContainerServer implements ContainerService {
  readonly way = 'container';
  version = '';
  readonly #started: StartedTestContainer;
  readonly #image: ServerImage;
  #stopped = false;
  #paused = false;

  constructor(started: StartedTestContainer, image: ServerImage) {
    this.#started = started;
    this.#image = image;
  }

  get id(): string {
    return this.#started.getId();
  }

  get endpoint(): string {
    const host = this.#started.getHost();
    // Uses 127.0.0.1 instead of `localhost`: the engine may publish on IPv4 only, and `localhost` may resolve
    // to IPv6 first.
    return `${host === 'localhost' ? '127.0.0.1' : host}:${this.#started.getMappedPort(this.#image.port)}`;
  }

  get endpoints(): readonly string[] {
    return [this.endpoint];
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await this.thaw();
    await remove((await engine()).getContainer(this.id));
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
    await this.answers();
  }

  /** Resolves when the server in the container serves requests. */
  async answers(): Promise<void> {
    const { name, probe } = this.#image;
    const what = `${name} answers on ${this.endpoint}`;
    this.version = await until(() => probe(this.endpoint), {
      what,
      withinMs: START_WITHIN_MS,
      hopeless: async () => {
        const { State } = await (await engine()).getContainer(this.id).inspect();
        return State.Running ? undefined : `it ended by itself (exit code ${State.ExitCode})`;
      },
    });
  }
}

async function chooseImage({ name, variable, images }: ServerImage): Promise<string> {
  const named = process.env[variable];
  const candidates = named ? [named] : images;
  const client = await getContainerRuntimeClient().catch((error: unknown) => {
    throw new NotHere('there is no container engine', { cause: error });
  });
  for (const image of candidates) {
    if (await client.image.exists(ImageName.fromString(image))) return image;
  }
  const last = candidates.at(-1)!;
  try {
    await client.image.pull(ImageName.fromString(last));
  } catch (error) {
    const hint = `build it (compose/images/${name.toLowerCase()}) or name another in ${variable}`;
    throw new NotHere(`the engine has no image ${candidates.join(' or ')} and cannot pull it; ${hint}`, {
      cause: error,
    });
  }
  return last;
}
