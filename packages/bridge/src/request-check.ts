import type * as v from 'valibot';
import type { Authorization } from './authorization.ts';
import { BodyReader } from './body.ts';
import { boundedId, type ConnectionFacts } from './limits/client-id.ts';
import type { ClientId, Quota } from './limits/quota.ts';
import type { Action, Identity, Settings } from './options.ts';

/** A request, and what is known of where it comes from. */
export interface Incoming {
  readonly request: Request;
  readonly connection: ConnectionFacts;
  /** Of the join that the path names, if it names one. */
  readonly id: string;
}

/** A request that was allowed. */
export interface Allowed extends Incoming {
  readonly identity: Identity | undefined;
  readonly client: ClientId;
}

/** What a request with a body does, and what it needs. */
export interface Route<T> {
  readonly schema: v.GenericSchema<T>;
  /** What must be allowed before the body is read. */
  readonly before?: readonly Action[];
  /** What must be allowed before anything is done. */
  readonly requires: (body: T) => readonly Action[];
  readonly run: (body: T, allowed: Allowed) => Promise<Response>;
}

/** Lets a request have effects only after everything that it does is allowed, and reads no body of one that is refused whatever it says. */
export class RequestCheck {
  readonly #settings: Settings;
  readonly #bodies: BodyReader;
  readonly #authorization: Authorization;

  constructor(settings: Settings, bodies: Quota, authorization: Authorization) {
    this.#settings = settings;
    this.#authorization = authorization;
    const { clock, limits, times } = settings;
    this.#bodies = new BodyReader({ clock, bodies, maxBytes: limits.bodyBytes, withinMs: times.bodyMs });
  }

  async run<T>({ schema, before = [], requires, run }: Route<T>, incoming: Incoming): Promise<Response> {
    const { request } = incoming;
    await this.#authorization.allow(request, before);
    const body = await this.read(incoming, schema);
    const identity = await this.#authorization.allow(request, requires(body));
    return run(body, { ...incoming, identity, client: this.clientOf(incoming, identity) });
  }

  /** The body, checked. @throws {Refused} */
  async read<T>(incoming: Incoming, schema: v.GenericSchema<T>): Promise<T> {
    return this.#bodies.read(incoming.request, schema, this.clientOf(incoming));
  }

  /** What limits count the request under. */
  clientOf({ request, connection }: Pick<Incoming, 'request' | 'connection'>, identity?: Identity): ClientId {
    return boundedId(this.#settings.clientOf(request, { ...connection, principal: identity?.name }));
  }
}
