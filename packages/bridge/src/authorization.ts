import type { Action, Authorize, Identity } from './options.ts';
import { ifDefined } from './snapshots/if-defined.ts';
import { Refused } from './refusal.ts';
import type { ConnectionFacts } from './limits/client-id.ts';
import type { AskRequest, EvictRequest, JoinRequest, TokenRequest, Topic } from './wire.ts';

/**
 * For each kind of request, the actions that `authorize` must allow before the request has any effect. No
 * other code lists them. A request without actions concerns one join, and must contain that join's secret.
 */
export const REQUIRED_ACTIONS = {
  facts: (): readonly Action[] => [{ kind: 'facts' }],
  topic: (topic: Topic): readonly Action[] => (topic.kind === 'join' ? [] : [{ kind: 'watch', topic }]),
  token: ({ name }: TokenRequest): readonly Action[] => [{ kind: 'watch', topic: { kind: 'queue', name } }],
  evict: ({ name }: EvictRequest): readonly Action[] => [{ kind: 'evict', name }],
  ask: ({ name }: AskRequest): readonly Action[] => [{ kind: 'ask', name }],
  // A join with a handover request shows that request to the holder, so it also needs the permission for the
  // action `ask`.
  join: ({ name, request }: JoinRequest): readonly Action[] => [
    { kind: 'join', name },
    ...(request ? [{ kind: 'ask', name } as const] : []),
  ],
  contend: (name: string | undefined): readonly Action[] => [{ kind: 'contend', ...ifDefined('name', name) }],
  ownJoin: (): readonly Action[] => [],
} as const;

/**
 * Returns whether the permission to watch all queues whose names begin with `prefix` includes the queue
 * `name`.
 */
export function coversQueue(prefix: string, name: string): boolean {
  return name.startsWith(prefix);
}

/** A request that needs permissions, and what is known about the connection on which it arrived. */
export interface AuthorizedRequest {
  readonly request: Request;
  readonly connection: ConnectionFacts;
}

/**
 * Applies the host application's function `authorize`. If it throws, the action is refused, and the client
 * does not see the text of the error.
 */
export class Authorization {
  readonly #authorize: Authorize;

  constructor(authorize: Authorize) {
    this.#authorize = authorize;
  }

  /**
   * Resolves when `authorize` allows every action of the request, with the first identity that it returned.
   * @throws {Refused} 403 for the first action that is refused.
   */
  async allow(requested: AuthorizedRequest, actions: readonly Action[]): Promise<Identity | undefined> {
    let identity: Identity | undefined;
    for (const action of actions) {
      const ruling = await this.#rulingOn(requested, action);
      if (ruling === false) throw notAllowed(action);
      if (ruling !== true) identity ??= ruling;
    }
    return identity;
  }

  /** Resolves with whether `authorize` allows every action of the request. */
  async isAllowed(requested: AuthorizedRequest, actions: readonly Action[]): Promise<boolean> {
    return this.allow(requested, actions).then(
      () => true,
      () => false,
    );
  }

  async #rulingOn({ request, connection }: AuthorizedRequest, action: Action): Promise<boolean | Identity> {
    try {
      const ruling: unknown = await this.#authorize(request, action, connection);
      return isIdentity(ruling) ? ruling : ruling === true;
    } catch {
      return false;
    }
  }
}

function isIdentity(ruling: unknown): ruling is Identity {
  return typeof ruling === 'object' && ruling !== null && 'name' in ruling && typeof ruling.name === 'string';
}

function notAllowed(action: Action): Refused {
  const isForAllNames = action.kind !== 'facts' && action.kind !== 'watch' && action.name === undefined;
  const scope = isForAllNames
    ? ' (authorize refused this action without a name, which refuses it for every name)'
    : '';
  return new Refused(403, 'ACCESS_DENIED', `not allowed here: ${action.kind}${scope}`);
}
