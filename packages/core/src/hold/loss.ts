import { QueueLockError, isQueueLockError, type RevocationReason } from '../api/errors.ts';

const SENTENCE: Record<RevocationReason, string> = {
  'session-lost': 'the session was lost on the server, and every entry with it',
  'heartbeat-timeout':
    'no heartbeat was confirmed in time, so the server may have granted the lock to the next waiter',
  'entry-removed': 'another client or an operator removed the entry from the queue',
  'client-closed': 'the client was closed while it held the lock',
};

/** Creates the error of a lost hold from the error that caused the loss. */
export function lossOf(name: string, cause: unknown): QueueLockError {
  return lossBecause(name, reasonOf(cause), { cause });
}

/** Creates the error of a lost hold from the reason of the loss. */
export function lossBecause(
  name: string,
  reason: RevocationReason,
  because: { readonly cause?: unknown } = {},
): QueueLockError {
  const message = `${JSON.stringify(name)}: ${SENTENCE[reason]}`;
  return new QueueLockError('OWNERSHIP_LOST', message, { ...because, reason });
}

function reasonOf(cause: unknown): RevocationReason {
  if (!isQueueLockError(cause)) return 'session-lost';
  return cause.reason ?? (cause.code === 'ENTRY_LOST' ? 'entry-removed' : 'session-lost');
}
