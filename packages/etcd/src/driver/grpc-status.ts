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

/** How a call of gRPC ended. */
export type StatusName = (typeof NAMES)[number];

const LEADING_NUMBER = /^(\d+) [A-Z_]+: /;

/** A call that did not end well; the message reads as those of `@grpc/grpc-js` do. */
export class GrpcError extends Error {
  /** The number of the status. */
  readonly code: number;

  constructor(status: StatusName | number, details: string) {
    const code = typeof status === 'number' ? status : NAMES.indexOf(status);
    super(`${code} ${NAMES[code] ?? 'UNKNOWN'}: ${details}`);
    this.name = 'GrpcError';
    this.code = code;
  }
}

/** The status that an error tells, whichever library made it: etcd3 keeps it in the message only. */
export function statusOf(error: Error): StatusName | undefined {
  if ('code' in error && typeof error.code === 'number') return NAMES[error.code];
  const [, code] = LEADING_NUMBER.exec(error.message) ?? [];
  return code === undefined ? undefined : NAMES[Number(code)];
}
