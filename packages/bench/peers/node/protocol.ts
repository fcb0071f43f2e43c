// Input and output of a client program, see README.md, "The protocol".
import { createInterface, type Interface } from 'node:readline';

/** Parameters of the command line, such as `locks=64 name=jobs`. */
export class Parameters {
  readonly #values: ReadonlyMap<string, string>;

  constructor(args: readonly string[]) {
    this.#values = new Map(
      args.map((argument) => {
        const [key = '', ...value] = argument.split('=');
        return [key, value.join('=')];
      }),
    );
  }

  text(key: string): string {
    const value = this.#values.get(key);
    if (value === undefined) throw new Error(`say ${key}=…`);
    return value;
  }

  number(key: string, otherwise?: number): number {
    if (otherwise !== undefined && !this.#values.has(key)) return otherwise;
    const value = Number(this.text(key));
    if (!Number.isFinite(value)) throw new Error(`${key}=${this.text(key)} is no number`);
    return value;
  }
}

/** Returns the address of the store's server from an environment variable. */
export function endpointOf(variable: 'ETCD' | 'ZK' | 'REDIS'): string {
  const endpoint = process.env[variable];
  if (!endpoint) throw new Error(`${variable}=host:port is not set`);
  return endpoint;
}

export function say(line: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

let input: Interface | undefined;

/** Prints a line to the harness, and resolves when the harness replies with a line. */
export function sayAndWait(line: Readonly<Record<string, unknown>>): Promise<void> {
  const lines = (input ??= createInterface(process.stdin));
  const received = new Promise<void>((resolve) => lines.once('line', () => resolve()));
  say(line);
  return received;
}

/** Returns microseconds of a clock that all processes of the machine share. */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 100n) / 10;
}

/** Returns the processor time of this process so far, in microseconds. */
export function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
