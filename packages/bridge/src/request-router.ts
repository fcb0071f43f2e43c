import { randomBytes } from 'node:crypto';
import type { Acts } from './acts.ts';
import { Authorization, REQUIRED_ACTIONS } from './authorization.ts';
import { checkSource, checkWrite, type GuardRules } from './guard.ts';
import type { Joins } from './joins/joins.ts';
import type { ConnectionFacts } from './limits/client-id.ts';
import type { Limits } from './limits/limits.ts';
import type { Identity, Settings } from './options.ts';
import { Refused } from './refusal.ts';
import { RequestCheck, type Allowed, type Incoming, type Route } from './request-check.ts';
import { ifDefined } from './snapshots/if-defined.ts';
import { eventStream, json } from './replies.ts';
import { streamOrderIn } from './stream-order.ts';
import type { Order, Streams } from './streams.ts';
import * as wire from './wire.ts';

/** The parts of a bridge that `RequestRouter` uses. */
export interface RequestRouterTools {
  readonly settings: Settings;
  readonly limits: Limits;
  readonly joins: Joins;
  readonly streams: Streams;
  readonly acts: Acts;
  readonly epoch: string;
}

type Work = (incoming: Incoming) => Promise<Response>;

/** Checks the origin and the permissions of each request, and routes it to its handler. */
export class RequestRouter {
  readonly #tools: RequestRouterTools;
  readonly #rules: GuardRules;
  readonly #authorization: Authorization;
  readonly #check: RequestCheck;
  /** Handlers of requests by method and path. Every `POST` changes something, except for those in `READS`. */
  readonly #handlers: ReadonlyMap<string, Work>;

  constructor(tools: RequestRouterTools) {
    this.#tools = tools;
    const { allowedHosts, authorize } = tools.settings;
    this.#rules = { allowedHosts, token: randomBytes(24).toString('base64url') };
    this.#authorization = new Authorization(authorize);
    this.#check = new RequestCheck(tools.settings, tools.limits.bodies, this.#authorization);
    this.#handlers = new Map(Object.entries({ ...this.#views(), ...this.#acts(), ...this.#joins() }));
  }

  /**
   * Responds to a request.
   * @throws {QueueLockError} if the request is refused or fails. The caller sends the error as the response
   */
  async answer(request: Request, connection: ConnectionFacts): Promise<Response> {
    checkSource(request, this.#rules);
    const [route, id] = this.#routeOf(request);
    const work = this.#handlers.get(route);
    if (!work) throw new Refused(404, 'INVALID_ARGUMENT', noResource(request, this.#tools.settings.basePath));
    if (request.method !== 'GET' && !READS.has(route)) checkWrite(request, this.#rules);
    const incoming = { request, connection, id };
    const { rate, touchRate } = this.#tools.limits;
    (KEEPALIVES.has(route) ? touchRate : rate).take(this.#check.clientOf(incoming));
    return work(incoming);
  }

  #views(): Readonly<Record<string, Work>> {
    const { acts } = this.#tools;
    return {
      'GET facts': (incoming) => this.#facts(incoming),
      'GET stream': (incoming) => this.#stream(incoming, streamOrderIn(incoming.request)),
      'POST stream': (incoming) => this.#postedStream(incoming),
      'POST token': this.#route({
        schema: wire.tokenRequestSchema,
        requires: REQUIRED_ACTIONS.token,
        run: async (body) => json(await acts.tokenOf(body)),
      }),
    };
  }

  #acts(): Readonly<Record<string, Work>> {
    const { acts } = this.#tools;
    return {
      'POST evict': this.#route({
        schema: wire.evictRequestSchema,
        before: [{ kind: 'evict' }],
        requires: REQUIRED_ACTIONS.evict,
        run: async (body, { identity }) => json(await acts.evict(body, identity)),
      }),
      'POST ask': this.#route({
        schema: wire.askRequestSchema,
        before: [{ kind: 'ask' }],
        requires: REQUIRED_ACTIONS.ask,
        run: async (body, { identity, client, request: { signal } }) =>
          json(await acts.ask(body, { identity, client, signal })),
      }),
      'POST contenders': this.#contend(),
    };
  }

  #contend(): Work {
    const { contenders } = this.#tools.settings;
    const actions = REQUIRED_ACTIONS.contend(contenders?.name);
    return this.#route({
      schema: wire.contendersActSchema,
      before: actions,
      requires: () => actions,
      run: async (act) => {
        if (!contenders) throw new Refused(404, 'INVALID_ARGUMENT', 'this bridge has no contenders');
        await contenders.act(act);
        return json({});
      },
    });
  }

  #joins(): Readonly<Record<string, Work>> {
    const { joins } = this.#tools;
    const requires = REQUIRED_ACTIONS.ownJoin;
    return {
      'POST joins': this.#route({
        schema: wire.joinRequestSchema,
        before: [{ kind: 'join' }],
        requires: REQUIRED_ACTIONS.join,
        run: (body, allowed) => Promise.resolve(this.#join(body, allowed)),
      }),
      'POST joins/touch': this.#route({
        schema: wire.touchRequestSchema,
        requires,
        run: (body) => Promise.resolve(json(joins.touch(body))),
      }),
      'POST joins/*/leave': this.#route({
        schema: wire.joinActSchema,
        requires,
        run: async ({ secret }, { id }) => {
          await joins.get({ id, secret }).leave();
          return json({});
        },
      }),
      'POST joins/*/answer': this.#route({
        schema: wire.joinAnswerSchema,
        requires,
        run: async (response, { id }) => {
          await joins.get({ id, secret: response.secret }).answer(response);
          return json({});
        },
      }),
    };
  }

  #routeOf({ method, url }: Request): readonly [route: string, id: string] {
    const base = `${this.#tools.settings.basePath}/v${String(wire.WIRE_VERSION)}/`;
    const { pathname } = new URL(url);
    const path = pathname.startsWith(base) ? pathname.slice(base.length) : '';
    const id = /^joins\/([0-9a-f]{24})\//.exec(path)?.[1] ?? '';
    return [`${method} ${id === '' ? path : path.replace(id, '*')}`, id];
  }

  #route<T>(route: Route<T>): Work {
    return (incoming) => this.#check.run(route, incoming);
  }

  async #facts(incoming: Incoming): Promise<Response> {
    const { settings, epoch } = this.#tools;
    const identity = await this.#authorization.allow(incoming, REQUIRED_ACTIONS.facts());
    const kinds = ['evict', 'ask', 'join'] as const;
    const may = await Promise.all(
      kinds.map(async (kind) => [kind, await this.#authorization.isAllowed(incoming, [{ kind }])] as const),
    );
    const facts = {
      version: wire.WIRE_VERSION,
      epoch,
      token: this.#rules.token,
      storeLabel: settings.storeLabel,
      ...(identity ? { identity: identity.name } : {}),
      may: Object.fromEntries(may) as wire.BridgeFacts['may'],
      ...ifDefined('contenders', await this.#contendersFor(incoming)),
    } satisfies wire.BridgeFacts;
    return json(facts);
  }

  async #postedStream(incoming: Incoming): Promise<Response> {
    return this.#stream(incoming, await this.#check.read(incoming, wire.streamRequestSchema));
  }

  async #stream(incoming: Incoming, { topics }: wire.StreamRequest): Promise<Response> {
    const { request } = incoming;
    // Counts the topics of a stream in the limit for requests per second, because each of them has to be
    // authorized and opened.
    this.#tools.limits.rate.take(this.#check.clientOf(incoming), topics.length / TOPICS_AS_REQUEST);
    const rulings = await Promise.all(topics.map(async (topic) => this.#orderOf(incoming, topic)));
    const identity = rulings.find((ruling) => ruling.identity)?.identity;
    // A client that requests topics in the address of a GET learns of a refused topic only from the
    // response's status. So any refused topic fails its whole request.
    const isStrict = request.method === 'GET';
    const client = this.#check.clientOf(incoming, identity);
    const orders = rulings.map(({ order }) => order);
    return eventStream(this.#tools.streams.open({ topics: orders, client, isStrict }));
  }

  async #orderOf(
    incoming: Incoming,
    topic: wire.RequestedTopic,
  ): Promise<{ readonly order: Order; readonly identity: Identity | undefined }> {
    try {
      const identity = await this.#authorization.allow(incoming, REQUIRED_ACTIONS.topic(topic.topic));
      return { order: topic, identity };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { order: { ...topic, refusal: error }, identity: undefined };
    }
  }

  /** Returns the name of the queue of the demo programs, if the client of the request may disturb them. */
  async #contendersFor(incoming: Incoming): Promise<string | undefined> {
    const { contenders } = this.#tools.settings;
    if (!contenders) return undefined;
    const { name } = contenders;
    return (await this.#authorization.isAllowed(incoming, REQUIRED_ACTIONS.contend(name))) ? name : undefined;
  }

  /**
   * Adds a join. Responds with a stream of its states if the client accepts one, otherwise with the key of
   * the join. With this key the client can receive the states in another stream.
   */
  #join(body: wire.JoinRequest, { request, identity, client }: Allowed): Response {
    const { joins, streams } = this.#tools;
    const wantsStream = request.headers.get('accept')?.includes('text/event-stream') === true;
    const joined = joins.join(body, { sign: wantsStream ? 'stream' : 'touch', identity, client });
    if (!wantsStream) return json(joined);
    const { id, secret } = joined;
    return eventStream(streams.open({ topics: [{ topic: { kind: 'join', id, secret } }], client, joined }));
  }
}

/**
 * Returns the message for a request that no handler serves. The usual reason is a bridge that is mounted
 * below a path other than its option `basePath`.
 */
function noResource({ method, url }: Request, basePath: string): string {
  const { pathname } = new URL(url);
  if (pathname.startsWith(`${basePath}/`)) return 'there is no resource at this path with this method';
  const got = `${method} ${pathname.slice(0, 100)}`;
  return `the paths of this bridge begin with ${basePath}/ (its option basePath), and the request is ${got}`;
}

/** Number of topics in a request for a stream that count as much as one additional request. */
const TOPICS_AS_REQUEST = 8;

/** Requests that are a `POST`, because they have a body, but change nothing. */
const READS = new Set(['POST stream', 'POST token']);

/** Requests that keep a join alive or leave it. */
const KEEPALIVES = new Set(['POST joins/touch', 'POST joins/*/leave']);
