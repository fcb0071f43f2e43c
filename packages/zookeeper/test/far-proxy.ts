import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ProxyOrder {
  readonly order: 'start' | 'sever' | 'accept';
  /**
   * For `start`: the endpoint of the server to which the new proxy connects. For the other commands: the
   * endpoint of the proxy to which they apply.
   */
  readonly endpoint: string;
}

export interface ProxyReply {
  readonly id: number;
  readonly endpoint: string;
}

/**
 * Controls proxies that run in a child process. Closing a handle of the C client blocks the event loop until the server responds, so a
 * proxy in this process could not forward the response.
 */
export class FarProxies {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (endpoint: string) => void>();
  #orders = 0;

  constructor() {
    this.#child = fork(fileURLToPath(new URL('./proxies.ts', import.meta.url)));
    this.#child.on('message', (message) => {
      const { id, endpoint } = message as ProxyReply;
      this.#waiting.get(id)!(endpoint);
      this.#waiting.delete(id);
    });
  }

  /** Sends a command to the child process. For `start`, resolves with the endpoint of the new proxy. */
  send(order: ProxyOrder): Promise<string> {
    this.#orders += 1;
    const id = this.#orders;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.send({ id, ...order });
    });
  }

  stop(): void {
    this.#child.disconnect();
  }
}
