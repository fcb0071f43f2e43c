import { exitCodeOf } from './exit-codes.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The reason for which the process stops in an orderly way, with its exit code. */
export class Stopped extends Error {
  override readonly name: string = 'Stopped';
  readonly exitCode: number;

  constructor(why: string, exitCode: number) {
    super(`stopped by ${why}`);
    this.exitCode = exitCode;
  }
}

/** A request for an orderly stop, which any part of the program may make. Only the first request counts. */
export interface Stop {
  /** Signal that aborts when a stop is requested. Its reason is the {@link Stopped}. */
  readonly signal: AbortSignal;
  request(reason: Stopped): void;
  /** Exit code of the command if it was stopped. */
  readonly exitCode: number | undefined;
  /**
   * Passes signals of the operating system to the listener instead of stopping, until the returned function
   * is called.
   */
  divert(listener: (signal: NodeJS.Signals) => void): () => void;
}

/**
 * Requests a stop on the first SIGINT, SIGTERM or SIGHUP. The end of a parent process with an IPC channel
 * counts as SIGHUP. A second signal ends the process at once, and the TTL removes its entries.
 */
export function stopOnSignals(): Stop {
  const stop = new AbortController();
  let stopped: Stopped | undefined;
  const request = (reason: Stopped): void => {
    stopped ??= reason;
    stop.abort(stopped);
  };
  let listener: ((signal: NodeJS.Signals) => void) | undefined;
  const receive = (signal: NodeJS.Signals): void => {
    if (listener) listener(signal);
    else if (stopped) process.exit(exitCodeOf(signal));
    else request(new Stopped(signal, exitCodeOf(signal)));
  };
  for (const signal of SIGNALS) process.on(signal, receive);
  onParentEnd(() => {
    receive('SIGHUP');
  });
  return {
    signal: stop.signal,
    request,
    divert(other) {
      listener = other;
      return () => {
        listener = undefined;
      };
    },
    get exitCode() {
      return stopped?.exitCode;
    },
  };
}

/**
 * Calls the listener when the parent ends. A child with an IPC channel must not outlive its parent, and the
 * channel alone must not keep the child alive.
 */
function onParentEnd(listener: () => void): void {
  if (!process.connected) return;
  process.on('disconnect', listener);
  process.channel?.unref();
}

/** Returns the reason for a stop because the reader has closed stdout. The exit code is that of SIGPIPE. */
export function readerClosed(): Stopped {
  return new Stopped('the closed output', exitCodeOf('SIGPIPE'));
}
