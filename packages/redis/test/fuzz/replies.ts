import { redis, type RedisOptions } from '@queuelock/redis';
import type { Backend } from '@queuelock/core/backend';
import { FakeNodeRedis } from '../fake-clients.ts';
import RECORDED from './replies.json' with { type: 'json' };
import { settles } from '@queuelock/harness/fuzz/settle';
import type { FuzzTarget } from '@queuelock/harness/fuzz/target';

const SPEC = { queue: 'jobs', id: 'ab'.repeat(16), shared: false, limit: 1, value: 'me' };
const SETTLED_MS = 10_000;
// The simulated client replaces `SESSION` by the id of the session.
const MESSAGES = [
  `SESSION:1:admitted:1795772657149573/${'ab'.repeat(16)}`,
  'SESSION:2:gone:5/ab SESSION:3:ended:0/',
  '',
  ':::',
  'x'.repeat(100),
];
const SESSION_ID = /^[0-9a-f]{24,32}$/;

/** What the simulated server sends: replies in the order of the requests, and messages on its channels. */
interface Script {
  readonly replies: readonly unknown[];
  readonly messages: readonly unknown[];
}

/** Fuzz target: random replies and messages of Redis for a session that opens, enters a queue, sends a heartbeat and closes. */
export function open(): FuzzTarget {
  const replies = RECORDED.map(({ reply }) => reply as unknown);
  const each = replies.map((reply) => ({ replies: [['ok'], reply], messages: MESSAGES }));
  const corpus = [{ replies, messages: MESSAGES }, ...each].map((script) =>
    Buffer.from(JSON.stringify(script)),
  );
  return {
    corpus,
    isJson: true,
    batchSize: 50,
    run: async (input) => {
      const backend = redis({ client: clientOf(scriptIn(input.toString())), requestTimeoutMs: 50 });
      try {
        await settles('a session', use(backend), SETTLED_MS);
      } finally {
        await backend.close();
      }
    },
  };
}

function scriptIn(text: string): Script {
  try {
    const script = Object(JSON.parse(text)) as Partial<Record<keyof Script, unknown>>;
    const { replies, messages } = script;
    return {
      replies: Array.isArray(replies) && replies.length > 0 ? replies : [script],
      messages: Array.isArray(messages) ? messages : [messages],
    };
  } catch {
    return { replies: [['ok'], text], messages: [text] };
  }
}

/**
 * A simulated client that returns the replies of a fuzzed `script` in their order. It passes the test that the driver makes first. After each step it
 * publishes the messages of `script` on all channels.
 */
function clientOf({ replies, messages }: Script): NonNullable<RedisOptions['client']> {
  let at = 0;
  let session = '';
  const channels = new Set<string>();
  class Client extends FakeNodeRedis {
    override sendCommand(command: string[]): Promise<unknown> {
      if (command[0] === 'EVAL') return super.sendCommand(command);
      session = command.slice(3).find((word) => SESSION_ID.test(word)) ?? session;
      queueMicrotask(() => this.#publishAll());
      return Promise.resolve(structuredClone(replies[at++ % replies.length]));
    }
    #publishAll(): void {
      const texts = messages.map((text) =>
        typeof text === 'string' ? text.replaceAll('SESSION', session) : text,
      );
      for (const channel of channels)
        for (const text of texts) for (const made of this.made) (made as Client).publish(channel, text);
    }
    override subscribe(
      channel: string,
      listener: (message: unknown, channel: string) => void,
    ): Promise<void> {
      channels.add(channel);
      return super.subscribe(channel, listener);
    }
  }
  return new Client();
}

/**
 * Calls every function of the backend once, and stops at the first failure, since reconnecting after a failure takes longer each time.
 */
async function use(backend: Backend): Promise<void> {
  const { signal } = new AbortController();
  const ignoreError = { error: () => undefined };
  const subscriptions = [backend.observe(SPEC.queue).subscribe(ignoreError)];
  const listed = backend.queues?.('').subscribe(ignoreError);
  if (listed) subscriptions.push(listed);
  try {
    const session = await backend.open(10_000, signal);
    const placement = await session.enqueue(SPEC);
    subscriptions.push(placement.turns$.subscribe(ignoreError));
    await session.renew(signal);
    await session.traces?.leave(SPEC.queue, SPEC.id);
    await session.remove(SPEC.queue, SPEC.id);
    await backend.registers?.read(SPEC.queue, 'evictions');
    await session.close();
  } catch {
    // A call rejects when its reply cannot be parsed. That is correct: fuzzing looks for failures other than
    // such a rejection.
  } finally {
    for (const subscription of subscriptions) subscription.unsubscribe();
  }
}
