import { request, type Agent } from 'node:http';
import { text } from 'node:stream/consumers';
import { splitEndpoint } from './endpoint.ts';

export interface EtcdCall {
  readonly endpoint: string;
  /** `kv/txn` */
  readonly call: string;
  readonly agent: Agent | false;
  /** Gives the request up. */
  readonly signal?: AbortSignal;
}

/** One request to the JSON gateway of one member: bytes are base64, 64-bit numbers are text. */
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
