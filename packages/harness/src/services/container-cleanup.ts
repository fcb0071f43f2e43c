import { hostname } from 'node:os';
import { getContainerRuntimeClient } from 'testcontainers';
import { isAlive } from './process-facts.ts';
import { atTeardown } from './shared.ts';

/** Label of every container that tests start, with the process that started it. */
const OWNER = 'queuelock.test-server.owner';
/**
 * Label with an id of one attempt to start a container. If the attempt fails, the cleanup finds its container
 * by this label.
 */
const START = 'queuelock.test-server.start';

export type Engine = Awaited<ReturnType<typeof getContainerRuntimeClient>>['container']['dockerode'];
type Container = ReturnType<Engine['getContainer']>;

export async function engine(): Promise<Engine> {
  return (await getContainerRuntimeClient()).container.dockerode;
}

/** Returns the labels for a container that is being started, by which it can be found without its id. */
export function labelsOf(start: string): Record<string, string> {
  return { [OWNER]: owner(), [START]: start };
}

function owner(): string {
  return `${hostname()}/${process.pid}`;
}

let prepared = false;

/** Removes containers of ended processes of this machine, and registers the cleanup for this process. Runs once. */
export async function prepareCleanUp(): Promise<void> {
  if (prepared) return;
  prepared = true;
  atTeardown(async () => {
    prepared = false;
    await removeOwned((by) => by === owner());
  });
  await removeOwned((by) => {
    const [host, pid] = by.split('/');
    return host === hostname() && !isAlive(Number(pid));
  });
}

async function removeOwned(matches: (owner: string) => boolean): Promise<void> {
  const docker = await engine();
  const containers = await docker.listContainers({ all: true, filters: { label: [OWNER] } });
  const doomed = containers.filter(({ Labels }) => matches(Labels[OWNER] ?? ''));
  await Promise.all(doomed.map(({ Id }) => remove(docker.getContainer(Id))));
}

export async function remove(container: Container): Promise<void> {
  try {
    await container.remove({ force: true, v: true });
  } catch (error) {
    // Ignores the error: the container does not exist any more, or another process is removing it.
    if (![404, 409].includes((error as { statusCode?: number }).statusCode ?? 0)) throw error;
  }
}

/** Removes the container of a failed start, and returns the end of its log. */
export async function removeFailed(start: string): Promise<string> {
  const docker = await engine();
  const failed = await docker.listContainers({ all: true, filters: { label: [`${START}=${start}`] } });
  const logs = failed.map(async ({ Id }) => {
    const container = docker.getContainer(Id);
    const log = await container.logs({ stdout: true, stderr: true, tail: 40 });
    await remove(container);
    return textOf(log);
  });
  return (await Promise.all(logs)).join('\n').trimEnd();
}

// Decodes the log of a container to text. Each piece of the log has a header of 8 bytes, of which the last four are its length (Docker's API, "Stream
// format").
function textOf(log: Buffer): string {
  const pieces: Buffer[] = [];
  for (let at = 0; at + 8 <= log.length;) {
    const end = at + 8 + log.readUInt32BE(at + 4);
    pieces.push(log.subarray(at + 8, end));
    at = end;
  }
  return Buffer.concat(pieces).toString();
}
