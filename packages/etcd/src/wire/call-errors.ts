import { GrpcError, type StatusName } from '../driver/grpc-status.ts';

const HTTP_OK = 200;
const ENHANCE_YOUR_CALM = 0xb;
const REFUSED_STREAM = 0x7;
const NO_ERROR = 0;
const STATUS_OF_AN_ERROR = /^[1-9]\d*$/;
const STATUS_OF_HTTP: Readonly<Record<number, StatusName>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
};

/**
 * A call that the server has refused before it processed any part of it (RFC 9113, section 8.7), so it may be sent again without running twice. Proxies
 * refuse calls when they end a connection by a GOAWAY, and when they permit fewer streams than the client has opened before it knew.
 */
export class RefusedCall extends GrpcError {
  constructor() {
    super('UNAVAILABLE', `the member reset the call (${REFUSED_STREAM})`);
  }
}

/**
 * How often a refused call is sent again. Twice, because a GOAWAY may refuse it first, and then the next connection, whose limit of streams is not known
 * at once.
 */
export const MAX_REPEATS = 2;

/** The data of a response that ended without a gRPC status, from which the error message is made. */
export interface EndWithoutStatus {
  /** The HTTP status of the response. */
  readonly http: number | undefined;
  /** The type of the response's content. */
  readonly type: string | undefined;
  /** Whether the member ended the response in an orderly way. `false` if it reset the call. */
  readonly isWhole: boolean;
  /** The HTTP/2 error code with which the member reset the call, if it did. */
  readonly code: number;
}

/** The end of a connection. `failure` is its error, and counts only if `isOver` is `true`. */
interface EndOfLink {
  readonly isOver: boolean;
  readonly failure: Error;
}

/**
 * Returns the error of a call that ended without a gRPC status. If the connection has ended, this is the connection's error, which has more detail.
 * A refused call keeps its own error, because it may be sent again.
 */
export function failureOf(end: EndWithoutStatus, link: EndOfLink): GrpcError {
  const error = missingStatus(end);
  if (!link.isOver || error instanceof RefusedCall) return error;
  return new GrpcError('UNAVAILABLE', link.failure.message);
}

function missingStatus({ http, type = 'nothing', isWhole, code }: EndWithoutStatus): GrpcError {
  if (http === undefined && code === REFUSED_STREAM) return new RefusedCall();
  if (http !== undefined && http !== HTTP_OK)
    return new GrpcError(
      STATUS_OF_HTTP[http] ?? 'UNAVAILABLE',
      `the member responded with HTTP status ${http}`,
    );
  if (code === ENHANCE_YOUR_CALM)
    return new GrpcError('RESOURCE_EXHAUSTED', 'the member limits the rate of calls (ENHANCE_YOUR_CALM)');
  if (isWhole && code === NO_ERROR)
    return new GrpcError('UNKNOWN', `the member responded with ${type} without a gRPC status`);
  return new GrpcError('UNAVAILABLE', `the member reset the call (${code})`);
}

/** Returns the error of a call with an invalid response. */
export function unreadable(error: unknown): GrpcError {
  return new GrpcError('INTERNAL', `invalid response: ${String(error)}`);
}

/** Returns the error of a call that the member has ended with this gRPC status and message. A status that is no positive number means `UNKNOWN`. */
export function errorOfStatus(status: unknown, message: unknown): GrpcError {
  const isValid = STATUS_OF_AN_ERROR.test(String(status));
  const details = typeof message === 'string' ? percentDecoded(message) : '';
  return new GrpcError(isValid ? Number(status) : 'UNKNOWN', details);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
