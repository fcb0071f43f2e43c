import { request, type Agent } from 'node:http';
import { text } from 'node:stream/consumers';
import { splitEndpoint } from './endpoint.ts';

export interface EtcdCall {
  readonly endpoint: string;
  /** Path of the call, for instance `kv/txn`. */
  readonly call: string;
  readonly agent: Agent | false;
  /** A signal that aborts the request. */
  readonly signal?: AbortSignal;
}

/**
 * Sends one request to the JSON gateway of an etcd member. In its JSON, bytes are base64, and 64-bit numbers
 * are strings.
 */
export async function callEtcd({ endpoint, call, agent, signal }: EtcdCall, body: object): Promise<unknown> {
  const options = {
    ...splitEndpoint(endpoint),
    ...(signal ? { signal } : {}),
    agent,
    method: 'POST',
    path: `/v3/${call}`,
  };
  const reply = await new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const requested = request(options, (response) => {
      text(response).then((output) => resolve({ status: response.statusCode, body: output }), reject);
    });
    requested.once('error', reject).end(JSON.stringify(body));
  });
  if (reply.status !== 200) throw new Error(`etcd on ${endpoint} answers ${reply.body}`);
  return JSON.parse(reply.body);
}

export function base64(value: string): string {
  return Buffer.from(value).toString('base64');
}
