import * as v from 'valibot';

/** Version of all messages in `@queuelock/bridge/wire`, and a part of every path. Another version is another protocol. */
export const WIRE_VERSION = 2;

/** Length limit of names and prefixes, in UTF-16 units; a store may allow less. */
export const MAX_NAME = 512;

/** Limit of topics in one stream, joins included. */
export const MAX_TOPICS = 64;

/** The subject of snapshots in a stream. Each snapshot contains the whole state of its topic. */
export type Topic =
  /** The list of all queues that are not empty and whose names begin with the prefix. */
  | { readonly kind: 'queues'; readonly prefix: string }
  /** The state of one queue, with all its entries. */
  | { readonly kind: 'queue'; readonly name: string }
  /** Recent history of a queue: joins, grants and departures that the bridge has seen. */
  | { readonly kind: 'timeline'; readonly name: string }
  /** The recorded holds of a queue, also from before the bridge was started. */
  | { readonly kind: 'record'; readonly name: string }
  /** The leader and the candidates of an election, which is a queue. */
  | { readonly kind: 'election'; readonly name: string }
  /** The entries of many queues, grouped by the program that made them. */
  | { readonly kind: 'sessions'; readonly prefix: string }
  /** The deadlocks among the queues whose names begin with the prefix. */
  | { readonly kind: 'deadlocks'; readonly prefix: string }
  /** Present and past faults: findings about the store, losses of the bridge's session, evictions. */
  | { readonly kind: 'faults'; readonly prefix: string }
  /** Demo programs that visitors may disturb, if the bridge has any. `name` is the name of their queue. */
  | { readonly kind: 'contenders'; readonly name: string }
  /** A join that was made through this bridge, with its secret. */
  | { readonly kind: 'join'; readonly id: string; readonly secret: string };

/** A topic that a client requests in a stream, with the latest snapshot of it that the client already has. */
export interface RequestedTopic {
  readonly topic: Topic;
  /**
   * The `id` of the event with the latest snapshot that the client has. A snapshot is sent only if it is
   * newer.
   */
  readonly since?: string;
}

/** Body of the request for a stream. */
export interface StreamRequest {
  readonly topics: readonly RequestedTopic[];
}

/**
 * Returns a text that identifies a topic: it is the same for equal topics, and does not contain the secret of
 * a join.
 */
export function topicKey(topic: Topic): string {
  if (topic.kind === 'join') return JSON.stringify([topic.kind, topic.id]);
  return JSON.stringify([topic.kind, 'name' in topic ? topic.name : topic.prefix]);
}

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_NAME));
const prefix = v.pipe(v.string(), v.maxLength(MAX_NAME));
const id = v.pipe(v.string(), v.minLength(1), v.maxLength(64));

/** Schema of `Topic`. */
export const topicSchema: v.GenericSchema<Topic> = v.variant('kind', [
  v.strictObject({ kind: v.picklist(['queue', 'timeline', 'record', 'election', 'contenders']), name }),
  v.strictObject({ kind: v.picklist(['queues', 'sessions', 'deadlocks', 'faults']), prefix }),
  v.strictObject({ kind: v.literal('join'), id, secret: id }),
]);

/** Schema of `StreamRequest`. */
export const streamRequestSchema: v.GenericSchema<StreamRequest> = v.strictObject({
  topics: v.pipe(
    v.array(v.strictObject({ topic: topicSchema, since: v.exactOptional(id) })),
    v.minLength(1),
    v.maxLength(MAX_TOPICS),
  ),
});
