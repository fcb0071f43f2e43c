import { QueueLockError } from '@queuelock/core/backend';
import { expect } from 'chai';
import { classify, clientClosed, isTokenOutdated } from '../src/driver/errors.ts';
import { GrpcError, statusOf } from '../src/driver/grpc-status.ts';

const attempt = { what: 'entering queue "jobs"', host: 'h:2379' };

/** Creates an error as grpc-js does. npm etcd3 keeps only its message. */
function ofGrpcJs(code: number | undefined, message: string): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

// Error messages of etcd 3.4 and 3.5, of grpc-js and of Node, each with the code that it must be mapped to.
const FAILURES = [
  [5, 'NOT_FOUND', 'etcdserver: requested lease not found', 'SESSION_LOST'],
  [7, 'PERMISSION_DENIED', 'etcdserver: permission denied', 'ACCESS_DENIED'],
  [3, 'INVALID_ARGUMENT', 'etcdserver: authentication failed, invalid user ID or password', 'ACCESS_DENIED'],
  [3, 'INVALID_ARGUMENT', 'etcdserver: user name is empty', 'ACCESS_DENIED'],
  [9, 'FAILED_PRECONDITION', 'etcdserver: user name not found', 'ACCESS_DENIED'],
  [9, 'FAILED_PRECONDITION', 'etcdserver: authentication is not enabled', 'ACCESS_DENIED'],
  [7, 'PERMISSION_DENIED', 'refused by a proxy', 'ACCESS_DENIED'],
  [16, 'UNAUTHENTICATED', 'refused by a proxy', 'ACCESS_DENIED'],
  [16, 'UNAUTHENTICATED', 'etcdserver: invalid auth token', 'UNAVAILABLE'],
  [3, 'INVALID_ARGUMENT', 'etcdserver: revision of auth store is old', 'UNAVAILABLE'],
  [8, 'RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded', 'UNAVAILABLE'],
  [8, 'RESOURCE_EXHAUSTED', 'etcdserver: too many requests', 'UNAVAILABLE'],
  [14, 'UNAVAILABLE', 'etcdserver: no leader', 'UNAVAILABLE'],
  [14, 'UNAVAILABLE', 'etcdserver: leader changed', 'UNAVAILABLE'],
  [14, 'UNAVAILABLE', 'etcdserver: request timed out', 'UNAVAILABLE'],
  [14, 'UNAVAILABLE', 'Connection dropped', 'UNAVAILABLE'],
  [3, 'INVALID_ARGUMENT', 'etcdserver: key is not provided', 'INVALID_ARGUMENT'],
  [3, 'INVALID_ARGUMENT', 'etcdserver: too many operations in txn request', 'INVALID_ARGUMENT'],
  [3, 'INVALID_ARGUMENT', 'etcdserver: request is too large', 'INVALID_ARGUMENT'],
  [12, 'UNIMPLEMENTED', 'unknown service etcdserverpb.KV', 'INVALID_ARGUMENT'],
  [12, 'UNIMPLEMENTED', 'Received HTTP status code 404', 'UNAVAILABLE'],
  [12, 'UNIMPLEMENTED', 'the member responded with HTTP status 404', 'UNAVAILABLE'],
  [2, 'UNKNOWN', 'Received HTTP status code 413', 'INVALID_ARGUMENT'],
  [14, 'UNAVAILABLE', 'the member responded with HTTP status 413', 'INVALID_ARGUMENT'],
  [9, 'FAILED_PRECONDITION', 'etcdserver: rpc not supported for learner', 'UNAVAILABLE'],
  [4, 'DEADLINE_EXCEEDED', 'no response within 1500 ms', 'UNAVAILABLE'],
  [1, 'CANCELLED', 'Cancelled on client', 'UNAVAILABLE'],
  [13, 'INTERNAL', 'Received RST_STREAM with code 2', 'UNAVAILABLE'],
  [2, 'UNKNOWN', 'context canceled', 'UNAVAILABLE'],
] as const;

describe('an error of a member or of the connection to it', () => {
  for (const [code, status, text, expected] of FAILURES) {
    it(`is converted to ${expected} if it is the gRPC status ${code} with the text: ${text}`, () => {
      const message = `${code} ${status}: ${text}`;
      const errors = [ofGrpcJs(code, message), ofGrpcJs(undefined, message), new GrpcError(code, text)];
      for (const error of errors) {
        const classified = classify(error, attempt);
        expect(classified).to.include({ code: expected, cause: error });
        expect(classified.message).to.include(attempt.what);
        if (expected !== 'SESSION_LOST')
          expect(classified.message).to.include(text).and.include(attempt.host);
        expect(statusOf(error)).to.equal(status);
        expect(isTokenOutdated(error)).to.equal(/auth token|auth store/.test(text));
      }
    });
  }

  it('is converted to UNAVAILABLE when it is not a gRPC error', () => {
    for (const odd of [
      new Error('connect ECONNREFUSED'),
      Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
      7,
    ])
      expect(classify(odd, attempt).code).to.equal('UNAVAILABLE');
  });

  it('is converted to CLOSED when the client was closed', () => {
    const etcd3 = new Error('Tried to call a KV method on etcd3, but the client was already closed');
    for (const error of [etcd3, clientClosed()]) {
      expect(classify(error, attempt)).to.include({ code: 'CLOSED' });
      expect(classify(error, attempt).message).to.include('entering queue "jobs": the client was closed');
    }
  });

  it('is unchanged when it is a QueueLockError', () => {
    const error = new QueueLockError('ENTRY_LOST', 'gone');
    expect(classify(error, attempt)).to.equal(error);
  });

  it('names the keys that need permission, but not when the log-in failed', () => {
    const denied = new GrpcError('PERMISSION_DENIED', 'etcdserver: permission denied');
    expect(classify(denied, { ...attempt, prefix: 'team/' }).message).to.include(
      'The user needs read and write permission on all keys below "team/NAME/", NAME being the queue, and on all below "team/.queuelock/"',
    );
    const stranger = new GrpcError('INVALID_ARGUMENT', 'etcdserver: authentication failed, invalid user ID');
    expect(classify(stranger, { ...attempt, prefix: 'team/' }).message).not.to.include('permission on');
  });

  it('contains a hint about TLS when a client without TLS cannot connect', () => {
    const closed = new GrpcError('UNAVAILABLE', 'No connection established. Last error: Failed to connect');
    expect(classify(closed, { ...attempt, tls: false }).message).to.include('expects TLS does: https://');
    expect(classify(closed, { ...attempt, tls: true }).message).not.to.include('expects TLS');
  });

  it('contains advice for the operator when the store is full', () => {
    const full = new GrpcError('RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded');
    expect(classify(full, attempt).message).to.match(/disarm the alarm; releases still work/);
  });

  it('has the name UNKNOWN for a status that gRPC does not define', () => {
    expect(new GrpcError(99, 'odd').message).to.equal('99 UNKNOWN: odd');
    expect(statusOf(new GrpcError(99, 'odd'))).to.equal(undefined);
  });
});
