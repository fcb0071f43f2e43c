import { request, type Agent } from 'node:http';
import { text } from 'node:stream/consumers';
import { splitEndpoint } from './endpoint.ts';

export interface EtcdCall {
  readonly endpoint: string;
  /** Path of the call, for instance `kv/txn`. */
  readonly call: string;
  readonly agent: Agent | false;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

/** Sends one request to the JSON gateway of a member: bytes are base64, 64-bit numbers are strings. */
export async function callEtcd({ endpoint, call, agent, signal }: EtcdCall, body: object): Promise<unknown> {
  const options = {
    ...splitEndpoint(endpoint),
    ...(signal ? { signal } : {}),
    agent,
    method: 'POST',
    path: `/v3/${call}`,
  };
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
