import { QueueLockError, type QueueLockErrorCode } from '@queuelock/core/backend';

/** Result codes of ZooKeeper that this package distinguishes (`zookeeper.h`, `enum ZOO_ERRORS`). */
export const ZkCode = {
  ok: 0,
  unimplemented: -6,
  badArguments: -8,
  noNode: -101,
  noAuth: -102,
  badVersion: -103,
  noChildrenForEphemerals: -108,
  nodeExists: -110,
  notEmpty: -111,
  sessionExpired: -112,
  invalidAcl: -114,
  authFailed: -115,
  ephemeralOnLocalSession: -120,
  saslRequired: -124,
  quotaExceeded: -125,
} as const;

/** The state in which the C client closes a connection when the server refuses the credentials (`ZOO_AUTH_FAILED_STATE`). */
export const AUTH_FAILED_STATE = -113;

const TEXT: Readonly<Record<number, string>> = {
  [-4]: 'connection loss',
  [-5]: 'marshalling error',
  [-6]: 'the server does not support this operation',
  [-7]: 'operation timeout',
  [-8]: 'bad arguments',
  [-9]: 'the connection is closed',
  [-101]: 'no such node',
  [-102]: 'the access control list does not permit it',
  [-108]: 'an ephemeral node cannot have children',
  [-110]: 'the node exists',
  [-111]: 'the node has children',
  [-112]: 'the session has expired',
  [-114]: 'invalid access control list',
  [-115]: 'authentication failed',
  [-116]: 'the connection is closing',
  [-118]: 'the session has moved to another server',
  [-120]: 'no ephemeral nodes in a local session',
  [-124]: 'clients must authenticate by SASL',
  [-125]: 'a quota is exceeded',
};

// Result codes that are not listed here leave the outcome of a write unknown: the losses and closings of a
// connection (-4, -9, -116), a timeout (-7), a session on another server (-118), and codes that servers may
// add.
const DEFINITE_CODES: Readonly<Record<number, QueueLockErrorCode>> = {
  [ZkCode.unimplemented]: 'INVALID_ARGUMENT',
  [ZkCode.badArguments]: 'INVALID_ARGUMENT',
  [ZkCode.noAuth]: 'ACCESS_DENIED',
  [ZkCode.noChildrenForEphemerals]: 'INVALID_ARGUMENT',
  [ZkCode.sessionExpired]: 'SESSION_LOST',
  [ZkCode.invalidAcl]: 'ACCESS_DENIED',
  [ZkCode.authFailed]: 'ACCESS_DENIED',
  [ZkCode.ephemeralOnLocalSession]: 'INVALID_ARGUMENT',
  [ZkCode.saslRequired]: 'ACCESS_DENIED',
  [ZkCode.quotaExceeded]: 'INVALID_ARGUMENT',
};

/** For some result codes: what the operator of the server can do. */
const REMEDIES: Readonly<Record<number, string>> = {
  [ZkCode.unimplemented]: 'upgrade it to ZooKeeper 3.5.3 or later, which has container nodes',
  [ZkCode.ephemeralOnLocalSession]:
    'with localSessionsEnabled, set localSessionsUpgradingEnabled=true too, since entries are ephemeral nodes',
  [ZkCode.quotaExceeded]: 'raise the quota of the path (setquota -N, -B), or remove nodes below it',
};

/**
 * Converts a result code to an error of the core.
 * @param what describes the request, for instance `create /jobs/_c_…`
 */
export function errorOf(code: number, what: string): QueueLockError {
  const text = `ZooKeeper returned "${TEXT[code] ?? 'unknown'}" (${code}) for ${what}`;
  const known = DEFINITE_CODES[code];
  const remedy = REMEDIES[code];
  if (!known) return new QueueLockError('UNAVAILABLE', `${text}; its outcome is unknown`);
  return new QueueLockError(known, remedy === undefined ? text : `${text}: ${remedy}`);
}

/** Creates the error of a request without a reply. The request may still take effect, since a sent request cannot be withdrawn. */
export function requestTimedOut(what: string, afterMs: number): QueueLockError {
  return new QueueLockError(
    'UNAVAILABLE',
    `no reply to ${what} within ${afterMs} ms; its outcome is unknown`,
  );
}

/** Creates the error of a session that has ended, with all its nodes. */
export function sessionEnded(state: number): QueueLockError {
  return new QueueLockError(
    'SESSION_LOST',
    END_TEXT[state] ?? `the ZooKeeper session ended with state ${state}`,
  );
}

/** Creates the error for calls of a session that this client has abandoned, so that another process can resume it. */
export function sessionAbandoned(id: string): QueueLockError {
  return new QueueLockError(
    'CLOSED',
    `the ZooKeeper session ${id} was not ended here: it ends at its timeout unless another client resumes it`,
  );
}

const END_TEXT: Readonly<Record<number, string>> = {
  [0]: 'the ZooKeeper session was closed by this client',
  [ZkCode.sessionExpired]: 'the ZooKeeper session has expired',
  [AUTH_FAILED_STATE]: 'the ZooKeeper server refused the credentials of this session',
};

/** Creates the error of an entry that another client removed. */
export function entryLost(path: string): QueueLockError {
  return new QueueLockError('ENTRY_LOST', `the entry ${path} was removed by another client`);
}

/** Creates the error of an enqueue whose caller has requested the removal of the entry meanwhile. */
export function entryWithdrawn(id: string): QueueLockError {
  return new QueueLockError('ENTRY_LOST', `the entry ${id} was removed before it was stored in the queue`);
}

/** Creates the error of a session whose private node, which heartbeats write to, was removed. */
export function privateNodeLost(path: string): QueueLockError {
  return sessionLost(`the private node ${path} of the session was removed`);
}

/** Creates the error of a session that another process resumed. */
export function sessionResumedElsewhere(id: string): QueueLockError {
  return sessionLost(`the session ${id} was resumed by another process; only one process may use it`);
}

export function sessionLost(why: string): QueueLockError {
  return new QueueLockError('SESSION_LOST', why);
}
