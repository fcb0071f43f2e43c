import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { etcdCompare } from '@queuelock/fencing';
import { splitEndpoint } from '../services/endpoint.ts';
import { EFFECT_WITHIN_MS, type Effect, type EffectTarget, type Outcome } from './effects.ts';

/** A key per queue below `directory`, written in one transaction with the look whether the writer's entry is there. */
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

export interface EtcdCall {
  readonly endpoint: string;
  /** `kv/txn` */
  readonly call: string;
  readonly agent: Agent | false;
  readonly signal: AbortSignal;
}

/** One request to the JSON gateway of one member: bytes are base64, 64-bit numbers are text. */
export async function callEtcd({ endpoint, call, agent, signal }: EtcdCall, body: object): Promise<unknown> {
  const options = { ...splitEndpoint(endpoint), agent, signal, method: 'POST', path: `/v3/${call}` };
  const answer = await new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const asked = request(options, (response) => {
      text(response).then((said) => resolve({ status: response.statusCode, body: said }), reject);
    });
    asked.once('error', reject).end(JSON.stringify(body));
  });
  if (answer.status !== 200) throw new Error(`etcd on ${endpoint} answers ${answer.body}`);
  return JSON.parse(answer.body);
}

export function base64(value: string): string {
  return Buffer.from(value).toString('base64');
}
