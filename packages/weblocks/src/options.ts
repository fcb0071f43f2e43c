import type { HeldLock, LockMode } from './api.ts';

/** A request with checked arguments. */
export interface RequestArguments {
  readonly name: string;
  readonly mode: LockMode;
  readonly ifAvailable: boolean;
  readonly steal: boolean;
  readonly signal: AbortSignal | undefined;
  readonly callback: (lock: HeldLock | null) => unknown;
}

const MODES: readonly LockMode[] = ['exclusive', 'shared'];

/**
 * Converts and checks the arguments of `request`, as Web IDL and the W3C draft of web locks demand.
 * @throws {TypeError} for an argument of another type
 * @throws {DOMException} `NotSupportedError` for a combination that is not allowed
 * @throws the reason of a signal that has aborted
 */
export function parseArguments(args: readonly unknown[]): RequestArguments {
  if (args.length < 2)
    throw new TypeError(`request takes a name and a callback, got ${args.length} argument(s)`);
  const [name, ...rest] = args;
  const parsed = {
    name: textOf(name),
    ...optionsOf(rest.length < 2 ? undefined : rest[0]),
    callback: callbackOf(rest.length < 2 ? rest[0] : rest[1]),
  };
  refuseUnsupported(parsed);
  parsed.signal?.throwIfAborted();
  return parsed;
}

function optionsOf(options: unknown): Omit<RequestArguments, 'name' | 'callback'> {
  if (options === undefined || options === null)
    return { mode: 'exclusive', ifAvailable: false, steal: false, signal: undefined };
  if (typeof options !== 'object' && typeof options !== 'function')
    throw new TypeError(`options are an object; got ${typeof options}`);
  const { mode, ifAvailable, steal, signal } = options as Readonly<Record<string, unknown>>;
  return {
    ifAvailable: Boolean(ifAvailable),
    mode: mode === undefined ? 'exclusive' : modeOf(mode),
    signal: signal === undefined ? undefined : signalOf(signal),
    steal: Boolean(steal),
  };
}

function modeOf(mode: unknown): LockMode {
  const text = textOf(mode);
  const known = MODES.find((one) => one === text);
  if (known) return known;
  throw new TypeError(`mode is 'exclusive' or 'shared'; got ${JSON.stringify(text)}`);
}

function signalOf(signal: unknown): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  throw new TypeError(`signal is an AbortSignal; got ${typeof signal}`);
}

function callbackOf(callback: unknown): RequestArguments['callback'] {
  if (typeof callback === 'function') return callback as RequestArguments['callback'];
  throw new TypeError(`callback is a function; got ${callback === null ? 'null' : typeof callback}`);
}

/**
 * Converts a value to a text as Web IDL does for a `DOMString`, which is any sequence of UTF-16 code units.
 */
function textOf(value: unknown): string {
  if (typeof value === 'symbol') throw new TypeError('a symbol cannot be converted to a string');
  return String(value);
}

function refuseUnsupported({ name, mode, ifAvailable, steal, signal }: RequestArguments): void {
  if (name.startsWith('-')) throw notSupported("a name does not begin with '-'");
  if (steal && ifAvailable) throw notSupported('steal and ifAvailable exclude each other');
  if (steal && mode !== 'exclusive') throw notSupported('steal requires the mode exclusive');
  if (signal && (steal || ifAvailable))
    throw notSupported('a signal cannot be combined with steal or ifAvailable');
}

function notSupported(rule: string): DOMException {
  return new DOMException(rule, 'NotSupportedError');
}
