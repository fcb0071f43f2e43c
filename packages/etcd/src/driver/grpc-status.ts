const NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

/** The name of a gRPC status, such as `UNAVAILABLE`. */
export type StatusName = (typeof NAMES)[number];

const LEADING_NUMBER = /^(\d+) [A-Z_]+: /;

/** A gRPC call that failed. Its message has the format of `@grpc/grpc-js`. */
export class GrpcError extends Error {
  /** The number of the gRPC status. */
  readonly code: number;

  constructor(status: StatusName | number, details: string) {
    const code = typeof status === 'number' ? status : NAMES.indexOf(status);
    super(`${code} ${NAMES[code] ?? 'UNKNOWN'}: ${details}`);
    this.name = 'GrpcError';
    this.code = code;
  }
}

/** Returns the gRPC status of an error from any library. The errors of npm etcd3 have the status only in their messages. */
export function statusOf(error: Error): StatusName | undefined {
  if ('code' in error && typeof error.code === 'number') return NAMES[error.code];
  const [, code] = LEADING_NUMBER.exec(error.message) ?? [];
  return code === undefined ? undefined : NAMES[Number(code)];
}
