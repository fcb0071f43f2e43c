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

/** Lock state over HTTP. */
export interface Bridge extends AsyncDisposable {
  /** The beginning of its paths. */
  readonly basePath: string;
  /**
   * Responds to a request whose path begins with `basePath`, as any host of web requests takes it; to others with 404. Never rejects: an error
   * is a response. `authorize` is called before anything is shown or done. Hand in the remote address where the host knows it, as
   * `nodeListener` does: the limits by client count by it.
   */
  readonly handle: (request: Request, connection?: ConnectionFacts) => Promise<Response>;
  /**
   * Makes one handler of this bridge and of a page that is served beside it: requests below `basePath` are the bridge's, all others the page's. A
   * request under a name that is not among the allowed hosts is refused for the page too.
   */
  readonly withPage: (page: Handler) => Handler;
  /**
   * Ends all streams, leaves all places and releases all holds that were taken through it; settles when the server has confirmed that.
   * The client remains open. Requests are refused from now on.
   */
  close(): Promise<void>;
}

/**
 * Makes a bridge over a client. Nothing is watched until somebody looks; then each queue once, however many look at it, and for
 * a while after. All places that pages take stand in the client's one session: if this process dies, they are gone together when
 * the TTL is over, and no page believes to hold for longer than the bridge's grace after it has last heard of it.
 * @throws {QueueLockError} `INVALID_ARGUMENT`
 */
export function createBridge(options: BridgeOptions): Bridge {
  const settings = settingsOf(options);
  const { client, clock, limits, times, basePath } = settings;
  const time = new ServerTime(clock);
  const faults = new FaultLog(client, time);
  const { lingerMs, graceMs } = times;
  const watched = new WatchedQueues({ client, clock, time, faults, lingerMs, most: limits.queues });
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
