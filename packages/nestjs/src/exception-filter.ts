import {
  Catch,
  HttpException,
  type ArgumentsHost,
  type ExceptionFilter,
  type FactoryProvider,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { QueueLockError, type QueueLockErrorCode } from '@queuelock/core';
import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import { throwError } from './rx.ts';

/** Settings of `QueuelockExceptionFilter`. */
export interface ExceptionFilterOptions {
  /**
   * Status when the lock was not available: `TIMEOUT`, `QUEUE_FULL`, `WAIT_TOO_LONG` and `DEADLOCK`. Default
   * 429; 409 is usual too.
   */
  readonly busyStatus?: number;
  /**
   * Status when the locks do not work, or a hold was lost: `UNAVAILABLE`, `CLOSED`, `SESSION_LOST`,
   * `ENTRY_LOST`, `OWNERSHIP_LOST`, `NOT_ENOUGH_TIME` and `WORK_TIMEOUT`. Default 503.
   */
  readonly outOfOrderStatus?: number;
}

const OPTIONS: KnownOptions<ExceptionFilterOptions> = { busyStatus: 'number', outOfOrderStatus: 'number' };
const BUSY: ReadonlySet<QueueLockErrorCode> = new Set(['TIMEOUT', 'QUEUE_FULL', 'WAIT_TOO_LONG', 'DEADLOCK']);
const OUT_OF_ORDER: ReadonlySet<QueueLockErrorCode> = new Set([
  'UNAVAILABLE',
  'CLOSED',
  'SESSION_LOST',
  'ENTRY_LOST',
  'OWNERSHIP_LOST',
  'NOT_ENOUGH_TIME',
  'WORK_TIMEOUT',
]);

/**
 * Turns errors of locks into HTTP responses. An error code that neither option lists shows a defect of the
 * program, and becomes status 500. The response has the code and a fixed text. The message of the error may
 * name servers and other clients, so it only goes to the log. The response to `CLOSED` ends the connection,
 * so that the server can close. In contexts other than HTTP the filter rethrows the error.
 * @example
 * const app = await NestFactory.create(AppModule);
 * app.useGlobalFilters(new QueuelockExceptionFilter(app.get(HttpAdapterHost), { busyStatus: 409 }));
 */
export class QueuelockExceptionFilter implements ExceptionFilter<QueueLockError> {
  readonly #host: HttpAdapterHost;
  readonly #statuses: Required<ExceptionFilterOptions>;

  /**
   * @param host the `HttpAdapterHost` that Nest injects
   * @throws {QueueLockError} `INVALID_ARGUMENT` for a status outside of 400 to 599
   */
  constructor(host: HttpAdapterHost, options?: ExceptionFilterOptions) {
    const checked = checkedOptions('options of QueuelockExceptionFilter', options, OPTIONS);
    this.#statuses = {
      busyStatus: checked.busyStatus ?? 429,
      outOfOrderStatus: checked.outOfOrderStatus ?? 503,
    };
    for (const [name, status] of Object.entries(this.#statuses))
      if (!Number.isInteger(status) || status < 400 || status > 599)
        throw invalidArgument(name, status, 'is an HTTP status from 400 to 599');
    this.#host = host;
  }

  catch(error: QueueLockError, host: ArgumentsHost): unknown {
    const context = host.getType<string>();
    if (context === 'rpc') return throwError(() => error);
    if (context !== 'http') throw error;
    // The filter reads the HTTP adapter at each error, because the adapter does not exist yet when the filter
    // is constructed.
    const { httpAdapter } = this.#host;
    const response: unknown = host.getArgByIndex(1);
    // Sends `Connection: close`. Otherwise a client that goes on sending over its connection would keep the
    // closing server open.
    if (error.code === 'CLOSED' && !httpAdapter.isHeadersSent(response))
      httpAdapter.setHeader(response, 'Connection', 'close');
    new BaseExceptionFilter(httpAdapter).catch(this.#responseFor(error), host);
    return undefined;
  }

  #responseFor(error: QueueLockError): Error {
    const { code } = error;
    const { busyStatus, outOfOrderStatus } = this.#statuses;
    if (BUSY.has(code)) return httpError(busyStatus, error, 'The resource is in use. Try again later.');
    if (OUT_OF_ORDER.has(code))
      return httpError(outOfOrderStatus, error, 'The lock is not available. Try again later.');
    // Nest logs an error that it does not know. It responds with the status 500, without the text of the
    // error.
    return error;
  }
}

Catch(QueueLockError)(QueuelockExceptionFilter);

/** Returns a provider that applies the filter to the whole application. */
export function queuelockExceptionFilter(
  options?: ExceptionFilterOptions,
): FactoryProvider<QueuelockExceptionFilter> {
  return {
    provide: APP_FILTER,
    useFactory: (host: HttpAdapterHost) => new QueuelockExceptionFilter(host, options),
    inject: [HttpAdapterHost],
  };
}

function httpError(statusCode: number, cause: QueueLockError, message: string): HttpException {
  return new HttpException({ statusCode, code: cause.code, message }, statusCode, { cause });
}
