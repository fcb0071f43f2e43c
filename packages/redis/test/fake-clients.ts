import { EventEmitter } from 'node:events';

type Library = 'ioredis' | 'redis';

/** The methods that the drivers call, of a client of ioredis and of a client of npm redis. */
export const METHODS = {
  ioredis: ['call', 'connect', 'disconnect', 'duplicate', 'on', 'subscribe', 'unsubscribe'],
  redis: ['connect', 'destroy', 'duplicate', 'on', 'sendCommand', 'subscribe', 'unsubscribe'],
} as const;

const SYNCHRONOUS: ReadonlySet<string> = new Set(['on', 'duplicate', 'destroy', 'disconnect']);

interface Behaviour {
  /** Name of the method that fails in each duplicate of the simulated client. */
  readonly failing?: string;
  /** How the failing method fails: it throws (`at once`), or its promise rejects (`later`). */
  readonly phase?: 'at once' | 'later';
  /**
   * Changes each reply before the driver gets it, to simulate a client that does not return replies as sent.
   */
  readonly reply?: (reply: unknown) => unknown;
  /** Whether a simulated connection is ever established. If not, connecting never ends. Default `true`. */
  readonly connects?: boolean;
}

/** A simulated client without a server. Its replies pass the test of `ProvenDriver`, and all steps succeed. */
abstract class FakeClient extends EventEmitter {
  readonly options = {};
  readonly made: FakeClient[];
  protected readonly behaviour: Behaviour;

  constructor(behaviour: Behaviour = {}, made: FakeClient[] = []) {
    super();
    this.behaviour = behaviour;
    this.made = made;
  }

  /** Delivers a message as if the server had published it. */
  abstract publish(channel: string, message: unknown): void;

  duplicate(): FakeClient {
    void this.attempt('duplicate');
    const { constructor: Own } = this as unknown as { constructor: new (...args: unknown[]) => FakeClient };
    const duplicate = new Own(this.behaviour, this.made);
    this.made.push(duplicate);
    return duplicate;
  }

  // Adds a listener, or fails if the test simulates a failing method `on`.
  override on(event: string, listener: (...args: never[]) => void): this {
    void this.attempt('on');
    return super.on(event, listener as (...args: unknown[]) => void);
  }

  connect(): Promise<void> {
    return this.attempt('connect').then(() =>
      this.behaviour.connects === false ? new Promise<never>(() => undefined) : undefined,
    );
  }

  /** Simulates that each connection breaks. Like a badly behaved library, each duplicate emits the event `error` twice and passes no error object. */
  breakAll(): void {
    for (const client of this.made) {
      for (const event of ['error', 'end', 'terminated', 'error'])
        if (client.listenerCount(event) > 0) client.emit(event, undefined);
    }
  }

  protected replyTo([command = '']: readonly string[]): unknown {
    const reply =
      command === 'EVAL'
        ? [7, 1_900_000_000_000_001, 'text', ['nested', 0], null]
        : ['ok', '1', 10_000_000, '0', '0'];
    return this.behaviour.reply ? this.behaviour.reply(reply) : reply;
  }

  /**
   * Simulates the end of a call of `method`: throws or rejects if the test has chosen this method to fail.
   */
  protected attempt(method: string): Promise<void> {
    const { failing, phase } = this.behaviour;
    if (method !== failing) return Promise.resolve();
    const error = new TypeError(`${method} fails`);
    if (phase === 'later' && !SYNCHRONOUS.has(method)) return Promise.reject(error);
    throw error;
  }
}

/** A simulated client that behaves as a connection of ioredis. */
export class FakeIoRedis extends FakeClient {
  static readonly library: Library = 'ioredis';
  static readonly closes = 'disconnect';

  publish(channel: string, message: unknown): void {
    this.emit('message', channel, message);
  }

  call(...command: string[]): Promise<unknown> {
    return this.attempt('call').then(() => this.replyTo(command));
  }

  subscribe(): Promise<void> {
    return this.attempt('subscribe');
  }

  unsubscribe(): Promise<void> {
    return this.attempt('unsubscribe');
  }

  disconnect(): void {
    void this.attempt('disconnect');
  }
}

/** A simulated client that behaves as a client of npm redis. */
export class FakeNodeRedis extends FakeClient {
  static readonly library: Library = 'redis';
  static readonly closes = 'destroy';
  readonly isOpen = true;
  readonly #listeners = new Map<string, (message: unknown, channel: string) => void>();

  publish(channel: string, message: unknown): void {
    this.#listeners.get(channel)?.(message, channel);
  }

  sendCommand(command: string[]): Promise<unknown> {
    return this.attempt('sendCommand').then(() => this.replyTo(command));
  }

  subscribe(channel: string, listener: (message: unknown, channel: string) => void): Promise<void> {
    this.#listeners.set(channel, listener);
    return this.attempt('subscribe');
  }

  unsubscribe(): Promise<void> {
    return this.attempt('unsubscribe');
  }

  destroy(): void {
    void this.attempt('destroy');
  }
}
