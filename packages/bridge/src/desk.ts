import { randomBytes } from 'node:crypto';
import type { Acts } from './acts.ts';
import { bodyOf } from './body.ts';
import { checkSource, checkWrite, type GuardRules } from './guard.ts';
import type { Joins } from './joins/joins.ts';
import type { Action, Identity, Settings } from './options.ts';
import { Refused } from './refusal.ts';
import { given } from './pictures/given.ts';
import { eventStream, json } from './replies.ts';
import { streamOrderOf } from './stream-order.ts';
import type { Order, Streams } from './streams.ts';
import * as wire from './wire.ts';

/** What the desk hands requests on to. */
export interface DeskTools {
  readonly settings: Settings;
  readonly joins: Joins;
  readonly streams: Streams;
  readonly acts: Acts;
  readonly epoch: string;
}

type Work = (request: Request, id: string) => Promise<Response>;

/** Takes requests in: checks where they come from and who may, and hands them on. */
export class Desk {
  readonly #tools: DeskTools;
  readonly #rules: GuardRules;
  /** By method and path. What begins with `POST` and is not in `READS` changes something. */
  readonly #works: ReadonlyMap<string, Work>;

  constructor(tools: DeskTools) {
    this.#tools = tools;
    const { allowedHosts } = tools.settings;
    this.#rules = { allowedHosts, token: randomBytes(24).toString('base64url') };
    this.#works = new Map<string, Work>([
      ['GET facts', (request) => this.#facts(request)],
      ['GET stream', (request) => this.#stream(request)],
      ['POST stream', (request) => this.#stream(request)],
      ['POST token', (request) => this.#token(request)],
      ['POST evict', (request) => this.#evict(request)],
      ['POST ask', (request) => this.#ask(request)],
      ['POST contenders', (request) => this.#contend(request)],
      ['POST joins', (request) => this.#join(request)],
      ['POST joins/touch', (request) => this.#touch(request)],
      ['POST joins/*/leave', (request, id) => this.#leave(request, id)],
      ['POST joins/*/answer', (request, id) => this.#answer(request, id)],
    ]);
  }

  /** @throws {QueueLockError} what is to be answered instead. */
  async answer(request: Request): Promise<Response> {
    checkSource(request, this.#rules);
    const [route, id] = this.#routeOf(request);
    const work = this.#works.get(route);
    if (!work) throw new Refused(404, 'INVALID_ARGUMENT', 'there is nothing at this path with this method');
    if (request.method !== 'GET' && !READS.has(route)) checkWrite(request, this.#rules);
    return work(request, id);
  }

  #routeOf({ method, url }: Request): readonly [route: string, id: string] {
    const base = `${this.#tools.settings.basePath}/v${String(wire.WIRE_VERSION)}/`;
    const { pathname } = new URL(url);
    const path = pathname.startsWith(base) ? pathname.slice(base.length) : '';
    const id = /^joins\/([0-9a-f]{24})\//.exec(path)?.[1] ?? '';
    return [`${method} ${id === '' ? path : path.replace(id, '*')}`, id];
  }

  async #facts(request: Request): Promise<Response> {
    const { settings, epoch } = this.#tools;
    const identity = await this.#allow(request, { kind: 'facts' });
    const kinds = ['evict', 'ask', 'join'] as const;
    const may = await Promise.all(
      kinds.map(async (kind) => [kind, (await this.#ruling(request, { kind })) !== false] as const),
    );
    const facts = {
      version: wire.WIRE_VERSION,
      epoch,
      token: this.#rules.token,
      place: settings.place,
      ...(identity ? { identity: identity.name } : {}),
      may: Object.fromEntries(may) as wire.BridgeFacts['may'],
      ...given('contenders', await this.#contendersFor(request)),
    } satisfies wire.BridgeFacts;
    return json(facts);
  }

  async #stream(request: Request): Promise<Response> {
    const { topics } = await streamOrderOf(request);
    const orders = topics.map(async (wanted): Promise<Order> => {
      const refusal = await this.#refusalOf(request, wanted.topic);
      return { ...wanted, ...(refusal && { refusal }) };
    });
    // Whoever asks by an address has nothing but the status to learn from.
    const isStrict = request.method === 'GET';
    return eventStream(this.#tools.streams.open({ topics: await Promise.all(orders), isStrict }));
  }

  async #token(request: Request): Promise<Response> {
    const body = await bodyOf(request, wire.tokenRequestSchema);
    await this.#allow(request, { kind: 'look', topic: { kind: 'queue', name: body.name } });
    return json(await this.#tools.acts.tokenOf(body));
  }

  async #evict(request: Request): Promise<Response> {
    const body = await bodyOf(request, wire.evictRequestSchema);
    const identity = await this.#allow(request, { kind: 'evict', name: body.name });
    return json(await this.#tools.acts.evict(body, identity));
  }

  async #ask(request: Request): Promise<Response> {
    const body = await bodyOf(request, wire.askRequestSchema);
    const identity = await this.#allow(request, { kind: 'ask', name: body.name });
    return json(await this.#tools.acts.ask(body, identity, request.signal));
  }

  async #contend(request: Request): Promise<Response> {
    const act = await bodyOf(request, wire.contendersActSchema);
    const { contenders } = this.#tools.settings;
    await this.#allow(request, { kind: 'contend', ...given('name', contenders?.name) });
    if (!contenders) throw new Refused(404, 'INVALID_ARGUMENT', 'this bridge has no contenders');
    await contenders.act(act);
    return json({});
  }

  /** The queue of those that whoever asks may disturb. */
  async #contendersFor(request: Request): Promise<string | undefined> {
    const { contenders } = this.#tools.settings;
    if (!contenders) return undefined;
    const { name } = contenders;
    return (await this.#ruling(request, { kind: 'contend', name })) === false ? undefined : name;
  }

  /** Answered by a stream of its own if that is what is accepted, else by what another stream needs to tell of it. */
  async #join(request: Request): Promise<Response> {
    const { joins, streams } = this.#tools;
    const body = await bodyOf(request, wire.joinRequestSchema);
    const identity = await this.#allow(request, { kind: 'join', name: body.name });
    const wantsStream = request.headers.get('accept')?.includes('text/event-stream') === true;
    const joined = joins.join(body, wantsStream ? 'stream' : 'touch', identity);
    if (!wantsStream) return json(joined);
    const { id, secret } = joined;
    return eventStream(streams.open({ topics: [{ topic: { kind: 'join', id, secret } }], joined }));
  }

  async #touch(request: Request): Promise<Response> {
    return json(this.#tools.joins.touch(await bodyOf(request, wire.touchRequestSchema)));
  }

  async #leave(request: Request, id: string): Promise<Response> {
    const { secret } = await bodyOf(request, wire.joinActSchema);
    await this.#tools.joins.get({ id, secret }).leave();
    return json({});
  }

  async #answer(request: Request, id: string): Promise<Response> {
    const answer = await bodyOf(request, wire.joinAnswerSchema);
    await this.#tools.joins.get({ id, secret: answer.secret }).answer(answer);
    return json({});
  }

  /** Whoever knows the secret of a join was allowed to make it. */
  async #refusalOf(request: Request, topic: wire.Topic): Promise<Refused | undefined> {
    if (topic.kind === 'join') return undefined;
    const ruling = await this.#ruling(request, { kind: 'look', topic });
    return ruling === false ? notAllowed('look') : undefined;
  }

  /** @throws {Refused} */
  async #allow(request: Request, action: Action): Promise<Identity | undefined> {
    const ruling = await this.#ruling(request, action);
    if (ruling === false) throw notAllowed(action.kind);
    return ruling === true ? undefined : ruling;
  }

  async #ruling(request: Request, action: Action): Promise<boolean | Identity> {
    try {
      return await this.#tools.settings.authorize(request, action);
    } catch {
      return false;
    }
  }
}

/** These change nothing, although they are sent with a body. */
const READS = new Set(['POST stream', 'POST token']);

function notAllowed(what: string): Refused {
  return new Refused(403, 'ACCESS_DENIED', `not allowed here: ${what}`);
}
