import { isQueueLockError } from '@queuelock/core';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import type { Printer } from '../printer.ts';
import type { Stop } from '../stop.ts';
import type { Work } from './term.ts';

/** Settings of a leader that runs no command (`queuelock elect`), and only prints that it leads. */
export interface IdleLeader {
  readonly value: string;
  readonly epoch: number;
  readonly stop: Stop;
  readonly printer: Printer;
}

/**
 * Returns the work of a leader without a command: it prints that this process leads. The work ends on a
 * signal, on the loss of the leadership, or when the reader of the output closes it.
 */
export function leadIdly({ value, epoch, stop, printer }: IdleLeader): Work {
  return ({ name, key, token, signal }, onSignal) => {
    printer.print(
      { ev: 'elected', name, value, key, token, epoch },
      `leads ${name} as ${value}, fencing token ${String(token)}`,
    );
    return new Promise((resolve) => {
      onSignal((received) => {
        resolve(exitCodeOf(received));
      });
      stop.signal.addEventListener('abort', () => {
        resolve(stop.exitCode ?? EXIT.failure);
      });
      signal.addEventListener('abort', () => {
        const error: unknown = signal.reason;
        const reason = isQueueLockError(error) ? (error.reason ?? error.code) : String(error);
        printer.print({ ev: 'lost', name, token, reason }, `no longer leads ${name}: ${reason}`);
        resolve(EXIT.lost);
      });
    });
  };
}
