import * as v from 'valibot';

/** The version of everything in `@queuelock/bridge/wire`: part of every path. Another one is another protocol. */
export const WIRE_VERSION = 2;

/** The longest name or prefix that is taken, in UTF-16 units; a store may take less. */
export const MAX_NAME = 512;

/** Topics in one stream at most, joins among them. */
export const MAX_TOPICS = 64;

/** What a stream tells about. Of one kind and one subject there is one state, and each snapshot of it is whole. */
export type Topic =
  /** The queues that are not empty and whose names begin with the prefix. */
  | { readonly kind: 'queues'; readonly prefix: string }
  /** One queue, entry by entry. */
  | { readonly kind: 'queue'; readonly name: string }
  /** Who joined, held and left a queue, as far as the bridge has seen it. */
  | { readonly kind: 'timeline'; readonly name: string }
  /** Who leads, and who stands. */
  | { readonly kind: 'election'; readonly name: string }
  /** The entries of many queues, by the program that made them. */
  | { readonly kind: 'sessions'; readonly prefix: string }
  /** Who waits in a circle. */
  | { readonly kind: 'deadlocks'; readonly prefix: string }
  /** What is wrong, or was: findings of the store, doubts and losses of the bridge's session, evictions. */
  | { readonly kind: 'faults'; readonly prefix: string }
  /** Programs that visitors may disturb, where the bridge has some; the name is that of their queue. */
  | { readonly kind: 'contenders'; readonly name: string }
  /** A place in a queue that was taken through this bridge; the secret is that of its maker. */
  | { readonly kind: 'join'; readonly id: string; readonly secret: string };

/** A topic as a stream is asked for it. */
export interface Wanted {
  readonly topic: Topic;
  /** The `id` of the event that brought its latest snapshot: it is sent again only if there is a newer one. */
  readonly since?: string;
}

/** Body of the request for a stream. */
export interface StreamRequest {
  readonly topics: readonly Wanted[];
}

/** Names a topic; the same for the same one, and without its secret. */
export function topicKey(topic: Topic): string {
  if (topic.kind === 'join') return JSON.stringify([topic.kind, topic.id]);
  return JSON.stringify([topic.kind, 'name' in topic ? topic.name : topic.prefix]);
}

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_NAME));
const prefix = v.pipe(v.string(), v.maxLength(MAX_NAME));
const id = v.pipe(v.string(), v.minLength(1), v.maxLength(64));

/** Checks a topic. */
export const topicSchema: v.GenericSchema<Topic> = v.variant('kind', [
  v.strictObject({ kind: v.picklist(['queue', 'timeline', 'election', 'contenders']), name }),
  v.strictObject({ kind: v.picklist(['queues', 'sessions', 'deadlocks', 'faults']), prefix }),
  v.strictObject({ kind: v.literal('join'), id, secret: id }),
]);

/** Checks the request for a stream. */
export const streamRequestSchema: v.GenericSchema<StreamRequest> = v.strictObject({
  topics: v.pipe(
    v.array(v.strictObject({ topic: topicSchema, since: v.exactOptional(id) })),
    v.minLength(1),
    v.maxLength(MAX_TOPICS),
  ),
});
