import type { CallOptions, Driver } from '../driver/driver.ts';
import { Http2Link } from './http2-link.ts';
import { Http2Member } from './http2-member.ts';
import * as methods from './http2-methods.ts';
import type { Method } from './http2-methods.ts';
import type { OpenLink } from './link.ts';
import { SocketLink } from './socket-link.ts';
import type { CheckedOptions } from '../api/options.ts';
import { Failures, MemberCircuitBreaker } from '../driver/member-circuit-breaker.ts';

/**
 * Returns a driver over Node's HTTP/2, or over this package's own HTTP/2 for the transport `socket`. This package encodes gRPC and etcd's messages
 * itself, and does not load npm etcd3 or grpc-js.
 */
export function http2Driver(
  host: string,
  options: CheckedOptions,
  failures: Failures = new Failures(),
): Driver {
  const openLink: OpenLink = (...args) =>
    options.transport === 'socket' ? new SocketLink(...args) : new Http2Link(...args);
  const member = new Http2Member(host, options, { breaker: new MemberCircuitBreaker(failures), openLink });
  const unary =
    <Request extends object, Response>(method: Method<Request, Response>) =>
    (request: Request, call: CallOptions): Promise<Response> =>
      member.call(method, request, call);
  const status = unary(methods.status);
  return {
    range: unary(methods.range),
    put: unary(methods.put),
    deleteRange: unary(methods.deleteRange),
    txn: unary(methods.txn),
    leaseGrant: unary(methods.leaseGrant),
    leaseRevoke: unary(methods.leaseRevoke),
    leaseTimeToLive: unary(methods.leaseTimeToLive),
    status: (call) => status({}, call),
    watch: (listener) => member.open(methods.watch, listener),
    keepAlive: (listener) => member.open(methods.keepAlive, listener),
    close: () => {
      member.close();
    },
  };
}
