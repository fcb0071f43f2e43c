// Provides a port that sends no response, not even a refusal, like a port of a host that is down. A frozen
// process listens there, and its backlog of connections is full.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./deaf-listener.mjs', import.meta.url));
const REPLIES_WITHIN_MS = 500;

export class DeafPort {
  readonly port: number;
  readonly #listener: ChildProcess;
  readonly #waiting: readonly Socket[];

  private constructor(port: number, listener: ChildProcess, waiting: readonly Socket[]) {
    this.port = port;
    this.#listener = listener;
    this.#waiting = waiting;
  }

  static async open(): Promise<DeafPort> {
    const listener = fork(SCRIPT);
    const [port] = (await once(listener, 'message')) as [number];
    listener.kill('SIGSTOP');
    const waiting: Socket[] = [];
    for (let replies = true; replies;) {
      const socket = connect(port, '127.0.0.1');
      waiting.push(socket);
      replies = await once(socket, 'connect', { signal: AbortSignal.timeout(REPLIES_WITHIN_MS) }).then(
        () => true,
        () => false,
      );
    }
    return new DeafPort(port, listener, waiting);
  }

  close(): void {
    for (const socket of this.#waiting) socket.destroy();
    this.#listener.kill('SIGKILL');
  }
}
