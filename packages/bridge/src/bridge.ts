import { randomBytes } from 'node:crypto';
import { Acts } from './acts.ts';
import { RequestRouter } from './request-router.ts';
import { FaultLog } from './faults.ts';
import { checkHost } from './guard.ts';
import { Joins } from './joins/joins.ts';
import type { ConnectionFacts } from './limits/client-id.ts';
import { limitsOf } from './limits/limits.ts';
import type { Handler } from './node-server.ts';
import { settingsOf, type BridgeOptions, type Settings } from './options.ts';
import { WatchedQueues } from './queue/watched-queues.ts';
import { Refused } from './refusal.ts';
import { refusal } from './replies.ts';
import { ServerTime } from './server-time.ts';
import { Streams } from './streams.ts';
import { Topics } from './topics.ts';

/** Serves lock state over HTTP. */
export interface Bridge extends AsyncDisposable {
  /** First segment of all paths of the bridge. */
  readonly basePath: string;
  /**
   * Responds to a request whose path begins with `basePath`, and to other paths with 404. It uses the web
   * types `Request` and `Response`, as many HTTP servers do. Never rejects: an error becomes a response.
   * Calls `authorize` before it sends any data or changes anything. Pass the remote address if the host knows
   * it, as `nodeListener` does, because the limits by client use it.
   */
  readonly handle: (request: Request, connection?: ConnectionFacts) => Promise<Response>;
  /**
   * Combines the bridge with the handler of a web page into one handler. Requests below `basePath` reach the
   * bridge, and all others the handler of the page. Requests for the page are refused too if their `Host` is
   * not among the allowed ones.
   */
  readonly withPage: (page: Handler) => Handler;
  /**
   * Ends all streams, removes all queued entries and releases all holds that pages took through the bridge. Resolves when the
   * server has confirmed that. Refuses requests from then on. The lock client stays open.
   */
  close(): Promise<void>;
}

/**
 * Makes a bridge over a lock client. The bridge watches nothing until a page subscribes. It then watches each
 * queue once for all pages, and for `lingerMs` after the last page has unsubscribed. All joins of pages are
 * entries of one session, that of the lock client. If this process dies, they all expire with the session's
 * TTL. A page believes that it holds a lock for at most `graceMs` after the bridge's last response.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is not valid.
 */
export function createBridge(options: BridgeOptions): Bridge {
  const settings = settingsOf(options);
  const { client, clock, limits, times, basePath } = settings;
  const time = new ServerTime(clock);
  const faults = new FaultLog(client, time);
  const { lingerMs, graceMs } = times;
  const watched = new WatchedQueues({ client, clock, time, faults, lingerMs, max: limits.queues });
  const inUse = limitsOf(limits, clock);
  const joins = new Joins({ client, clock, time, graceMs, joins: inUse.joins, asks: inUse.asks });
  const topics = new Topics({ settings, time, watched, joins, faults });
  const epoch = randomBytes(9).toString('base64url');
  const streams = new Streams({ settings, limits: inUse, time, topics, epoch });
  const acts = new Acts({ settings, asks: inUse.asks });
  const router = new RequestRouter({ settings, limits: inUse, joins, streams, epoch, acts });
  let closing: Promise<void> | undefined;

  async function end(): Promise<void> {
    await joins.close();
    streams.close();
    topics.close();
    watched.close();
    faults.close();
  }
  async function handle(request: Request, connection: ConnectionFacts = {}): Promise<Response> {
    try {
      if (closing) throw new Refused(503, 'CLOSED', 'the bridge was closed');
      return await router.answer(request, connection);
    } catch (error) {
      return refusal(error);
    }
  }
  function close(): Promise<void> {
    closing ??= end();
    return closing;
  }
  const withPage = (page: Handler): Handler => pageAndBridge(page, handle, settings);
  return { basePath, handle, withPage, close, [Symbol.asyncDispose]: close };
}

function pageAndBridge(page: Handler, bridge: Handler, { basePath, allowedHosts }: Settings): Handler {
  return async (request, connection) => {
    if (new URL(request.url).pathname.startsWith(`${basePath}/`)) return bridge(request, connection);
    try {
      checkHost(request, { allowedHosts });
    } catch (error) {
      return refusal(error);
    }
    return page(request, connection);
  };
}
