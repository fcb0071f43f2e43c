import type { TcpProxy } from '@queuelock/harness/faults';
import { outcome } from './bench.ts';
import { requestsIn } from './frames.ts';

/** Lets the call's request of that type reach the server, drops the reply, and then breaks the connection. */
export async function losing(proxy: TcpProxy, opCode: number, call: () => Promise<unknown>): Promise<string> {
  const trap = proxy.loseNextReply((chunk) => requestsIn(chunk).includes(opCode));
  const ended = outcome(call());
  await trap.lost;
  proxy.cut();
  return ended;
}
