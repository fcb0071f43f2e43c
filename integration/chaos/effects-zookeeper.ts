import { fencedZnode, type ZnodeClient } from '@queuelock/fencing';
import { ZOOKEEPER_CODE, ZooKeeperRefusal, ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { within } from './deadline.ts';
import { EFFECT_WITHIN_MS, type Effect, type EffectTarget, type Outcome } from './effect.ts';

/**
 * Opens the resource in ZooKeeper that workers write to while they hold a lock: a fenced znode for each queue
 * below `directory`. The first writer creates the znode.
 */
export function zooKeeperEffects(hosts: readonly string[], directory: string): EffectTarget {
  return new FencedNodes(hosts, directory);
}

class FencedNodes implements EffectTarget {
  readonly #hosts: readonly string[];
  readonly #directory: string;
  #chosen = 0;
  #wire: Promise<ZooKeeperWire> | undefined;

  constructor(hosts: readonly string[], directory: string) {
    this.#hosts = hosts;
    this.#directory = directory;
  }

  async send(effect: Effect): Promise<Outcome> {
    try {
      return await within(EFFECT_WITHIN_MS, this.#write(effect));
    } catch {
      this.#chosen += 1;
      this.close();
      return 'unknown';
    }
  }

  close(): void {
    void this.#wire?.then(
      (wire) => wire.close(),
      () => undefined,
    );
    this.#wire = undefined;
  }

  async #write({ queue, token, number }: Effect): Promise<Outcome> {
    const node = fencedZnode(clientOf(await this.#open()), `${this.#directory}/${queue}`, { token });
    return (await node.write(String(number))).outcome;
  }

  async #open(): Promise<ZooKeeperWire> {
    const present = this.#wire;
    // Forgets a closed session, unless a concurrent call has already replaced it by a new session. The new
    // session has to be kept, so that `close` can close it.
    if ((await present)?.closed && this.#wire === present) this.#wire = undefined;
    return (this.#wire ??= ZooKeeperWire.open(this.#hosts[this.#chosen % this.#hosts.length]!, {
      unref: true,
      withinMs: EFFECT_WITHIN_MS,
    }));
  }
}

function clientOf(wire: ZooKeeperWire): ZnodeClient {
  return {
    async get(path) {
      try {
        return await wire.read(path);
      } catch (error) {
        if (!isRefusal(error, 'noNode')) throw error;
      }
      await makeNode(wire, path);
      return wire.read(path);
    },
    async set(path, data, version) {
      try {
        await wire.write(path, { data, version });
        return true;
      } catch (error) {
        if (isRefusal(error, 'badVersion')) return false;
        throw error;
      }
    },
  };
}

/** Creates a node and its parents. Other processes may create them at the same time. */
async function makeNode(wire: ZooKeeperWire, path: string): Promise<void> {
  const segments = path.split('/').slice(1);
  for (const index of segments.keys()) {
    const ancestor = `/${segments.slice(0, index + 1).join('/')}`;
    await wire.create(ancestor, '').catch((error: unknown) => {
      if (!isRefusal(error, 'nodeExists')) throw error;
    });
  }
}

export function isRefusal(error: unknown, code: keyof typeof ZOOKEEPER_CODE): boolean {
  return error instanceof ZooKeeperRefusal && error.code === ZOOKEEPER_CODE[code];
}
