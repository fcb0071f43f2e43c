import type { TcpProxy } from '@queuelock/harness/faults';
import { outcome } from './bench.ts';
import { requestsIn } from './frames.ts';

/**
 * Makes a call and lets its first request of the type `opCode` reach the server. Then drops the reply and
 * breaks the connection.
 */
export async function losing(proxy: TcpProxy, opCode: number, call: () => Promise<unknown>): Promise<string> {
  const trap = proxy.loseNextReply((chunk) => requestsIn(chunk).includes(opCode));
  const ended = outcome(call());
  await trap.lost;
  proxy.cut();
  return ended;
}
