import type * as v from 'valibot';
import type { Authorization, AuthorizedRequest } from './authorization.ts';
import { BodyReader } from './body.ts';
import { boundedId } from './limits/client-id.ts';
import type { ClientId, Quota } from './limits/quota.ts';
import type { Action, Identity, Settings } from './options.ts';

/** A request with the facts about its connection. */
export interface Incoming extends AuthorizedRequest {
  /** Id of the join that the path of the request names; empty for other paths. */
  readonly id: string;
}

/** A request whose actions are all allowed. */
export interface Allowed extends Incoming {
  readonly identity: Identity | undefined;
  readonly client: ClientId;
}

/**
 * How the bridge processes one kind of request with a body: the schema of the body, the permissions, and the
 * handler.
 */
export interface Route<T> {
  readonly schema: v.GenericSchema<T>;
  /** Actions of the request that `authorize` must allow before the bridge reads the body. */
  readonly before?: readonly Action[];
  /** Returns the actions of the request that `authorize` must allow before the request has any effect. */
  readonly requires: (body: T) => readonly Action[];
  readonly run: (body: T, allowed: Allowed) => Promise<Response>;
}

/**
 * Runs a request only after all its actions are allowed. Does not read the body of a request that would be
 * refused with any body.
 */
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
    await this.#authorization.allow(incoming, before);
    const body = await this.read(incoming, schema);
    const identity = await this.#authorization.allow(incoming, requires(body));
    return run(body, { ...incoming, identity, client: this.clientOf(incoming, identity) });
  }

  /**
   * Reads and validates the body of a request.
   * @throws {Refused} when the body is not valid, or too large
   */
  async read<T>(incoming: Incoming, schema: v.GenericSchema<T>): Promise<T> {
    return this.#bodies.read(incoming.request, schema, this.clientOf(incoming));
  }

  /** Returns the id of the client that sent the request. The limits count the request under this id. */
  clientOf({ request, connection }: AuthorizedRequest, identity?: Identity): ClientId {
    return boundedId(this.#settings.clientOf(request, { ...connection, principal: identity?.name }));
  }
}
