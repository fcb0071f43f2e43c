import { exitCodeOf } from './exit-codes.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls `listener` for every signal that asks to end; the answer stops that. */
export function onEndSignals(listener: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener);
  };
}

/** The reason of an orderly stop. */
export class Stopped extends Error {
  override readonly name: string = 'Stopped';
  readonly exitCode: number;

  constructor(why: string, exitCode: number) {
    super(`stopped by ${why}`);
    this.exitCode = exitCode;
  }
}

/** An orderly end that anybody may ask for; the first reason counts. */
export interface Stop {
  /** Aborts with a {@link Stopped} as reason. */
  readonly signal: AbortSignal;
  ask(reason: Stopped): void;
  /** How the command ends if it was stopped. */
  readonly exitCode: number | undefined;
  /** Leaves the signals to others from now on. */
  dispose(): void;
}

/** Stops on the first SIGINT, SIGTERM or SIGHUP; a second one ends the process on the spot, the TTL cleans up. */
export function stopOnSignals(): Stop {
  const stop = new AbortController();
  let stopped: Stopped | undefined;
  const ask = (reason: Stopped): void => {
    stopped ??= reason;
    stop.abort(stopped);
  };
  const dispose = onEndSignals((signal) => {
    if (stopped) process.exit(exitCodeOf(signal));
    ask(new Stopped(signal, exitCodeOf(signal)));
  });
  return {
    signal: stop.signal,
    ask,
    dispose,
    get exitCode() {
      return stopped?.exitCode;
    },
  };
}

/** For a reader of stdout that has gone: as if SIGPIPE had ended the process. */
export function readerGone(): Stopped {
  return new Stopped('the end of its reader', exitCodeOf('SIGPIPE'));
}
