import { parseBackendUrl, type Backend, type EntrySpec, type Session } from '@queuelock/core/backend';
import { ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { LastAnswered } from './controls-answers.ts';
import { callEtcd } from '@queuelock/harness/services/etcd-gateway';
import { passingOn } from './instrumented.ts';
import type { Rule, WorkerSetup } from './worker-command.ts';

/** Returns replacements for methods of the session, which make it follow a weaker rule. */
type RuleOf = (session: Session, hosts: readonly string[]) => Partial<Session>;
type Changed = ReturnType<RuleOf>;

const ETCD_RULES: Partial<Record<Rule, RuleOf>> = { plain: etcdPlain, overlong: overlongBy(2), generous };
const ZOOKEEPER_RULES: Partial<Record<Rule, RuleOf>> = {
  plain: acknowledgedWrite,
  newest: acknowledgedWrite,
  connected,
  overlong: overlongBy(2),
  generous,
};
/**
 * Makes the client of a Consul session rely on six times its TTL. Relying on twice the TTL would cause no
 * violation, because Consul itself ends a session only after twice its TTL. Under the load of a trial, the next
 * waiter may learn of its grant some seconds later.
 */
const CONSUL_RULES: typeof ETCD_RULES = { overlong: overlongBy(6) };
const RULES: Readonly<Record<string, typeof ETCD_RULES>> = { zk: ZOOKEEPER_RULES, consul: CONSUL_RULES };

/**
 * Returns the backend with sessions whose heartbeats follow the given rule. Everything else works as in
 * queuelock.
 */
export function controlled(rule: Rule, backend: Backend, { url }: WorkerSetup): Backend {
  if (rule === 'product') return backend;
  const { scheme, hosts } = parseBackendUrl(url);
  const ruleOf = (RULES[scheme] ?? ETCD_RULES)[rule];
  if (!ruleOf) throw new TypeError(`rule: "${rule}" is not there for ${scheme}:`);
  return passingOn(backend, {
    open: async (ttlMs, signal) => {
      const session = await backend.open(ttlMs, signal);
      return passingOn(session, ruleOf(session, hosts));
    },
  });
}

function overlongBy(factor: number): RuleOf {
  return (session) => ({
    renew: async (signal, earlierMs) => factor * (await session.renew(signal, earlierMs)),
  });
}

/**
 * Makes the backend admit one contender too many. Examples are two holders of a lock, one more holder of a
 * semaphore than it has permits, or a reader beside a writer.
 */
function generous(session: Session): Changed {
  const more = (spec: EntrySpec): EntrySpec => ({ ...spec, limit: spec.limit + 1 });
  return {
    enqueue: (spec) => session.enqueue(more(spec)),
    enqueueAll: (specs) => session.enqueueAll!(specs.map(more)),
  };
}

/**
 * Sends keepalives to one etcd member as long as the member responds. Models a client that, unlike queuelock,
 * does not prove that the member is still connected to the majority.
 */
function etcdPlain(session: Session, hosts: readonly string[]): Changed {
  const { id, ttlMs } = session;
  const closing = new AbortController();
  let chosen = 0;
  const responses = new LastAnswered(ttlMs, async () => {
    const endpoint = hosts[chosen % hosts.length]!;
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(ttlMs)]);
    const lease = { ID: BigInt.asIntN(64, BigInt(`0x${id}`)).toString() };
    try {
      const call = { endpoint, call: 'lease/keepalive', agent: false, signal } as const;
      const { result } = (await callEtcd(call, lease)) as { result?: { TTL?: string } };
      return Number(result?.TTL ?? 0) > 0;
    } catch (error) {
      chosen += 1;
      throw error;
    }
  });
  return {
    renew: (signal) => responses.renew(signal),
    close: () => {
      closing.abort();
      return session.close();
    },
  };
}

/**
 * Models a client that relies on the whole TTL, counted from the start of a heartbeat, once the server has
 * acknowledged the heartbeat's write.
 */
function acknowledgedWrite(session: Session): Changed {
  return {
    renew: async (signal, earlierMs) => {
      await session.renew(signal, earlierMs);
      return session.ttlMs;
    },
  };
}

/**
 * Models clients that believe they hold as long as they are connected. A response to a read from the first
 * member that the URL names counts as a proof of the whole TTL. The read uses its own connection: a member
 * serves reads on all its connections or on none.
 */
function connected(session: Session, hosts: readonly string[]): Changed {
  let wire: Promise<ZooKeeperWire> | undefined;
  const replies = new LastAnswered(session.ttlMs, async () => {
    wire ??= ZooKeeperWire.open(hosts[0]!, { unref: true });
    try {
      await (await wire).read('/zookeeper');
      return true;
    } catch (error) {
      wire = undefined;
      throw error;
    }
  });
  return {
    renew: (signal) => replies.renew(signal),
    close: () => {
      void wire?.then((open) => open.close(), ignore);
      return session.close();
    },
  };
}

/**
 * Ignores the error of closing a connection or session, because heartbeats detect the same error themselves.
 */
function ignore(): void {}
