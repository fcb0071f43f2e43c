import { GrpcError, type StatusName } from '../driver/grpc-status.ts';

const HTTP_OK = 200;
const ENHANCE_YOUR_CALM = 0xb;
const NO_ERROR = 0;
const STATUS_OF_AN_ERROR = /^[1-9]\d*$/;
const STATUS_OF_HTTP: Readonly<Record<number, StatusName>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
};

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

/** Returns the error of a call that ended without a gRPC status. */
export function missingStatus({
  http = HTTP_OK,
  type = 'nothing',
  isWhole,
  code,
}: EndWithoutStatus): GrpcError {
  if (http !== HTTP_OK)
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
