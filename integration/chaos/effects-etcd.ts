import { Agent } from 'node:http';
import { etcdCompare } from '@queuelock/fencing';
import { base64, callEtcd } from '@queuelock/harness/services/etcd-gateway';
import { EFFECT_WITHIN_MS, type Effect, type EffectTarget, type Outcome } from './effect.ts';

/**
 * Opens the resource in etcd that workers write to while they hold a lock: a key for each queue below
 * `directory`. Each write is a transaction that checks that the entry of the writer exists.
 */
export function etcdEffects(hosts: readonly string[], directory: string): EffectTarget {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  let chosen = 0;
  async function send(effect: Effect): Promise<Outcome> {
    const endpoint = hosts[chosen % hosts.length]!;
    const signal = AbortSignal.timeout(EFFECT_WITHIN_MS);
    try {
      const { succeeded } = (await callEtcd(
        { endpoint, call: 'kv/txn', agent, signal },
        fencedPut(`${directory}/${effect.queue}`, effect),
      )) as { succeeded?: boolean };
      return succeeded ? 'accepted' : 'refused';
    } catch {
      chosen += 1;
      return 'unknown';
    }
  }
  return { send, close: () => agent.destroy() };
}

function fencedPut(target: string, { key, token, number }: Effect): object {
  const compare = etcdCompare({ key, token });
  return {
    compare: [{ ...compare, key: compare.key.toString('base64') }],
    success: [{ request_put: { key: base64(target), value: base64(String(number)) } }],
  };
}
