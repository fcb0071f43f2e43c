import type { TcpProxy } from '@queuelock/harness/faults';
import { outcome } from './bench.ts';
import { requestsIn } from './frames.ts';

/** The call's request of that type reaches the server, its answer does not come back, and then the connection breaks. */
export async function losing(proxy: TcpProxy, opCode: number, call: () => Promise<unknown>): Promise<string> {
  const trap = proxy.loseNextReply((chunk) => requestsIn(chunk).includes(opCode));
  const ended = outcome(call());
  await trap.lost;
  proxy.cut();
  return ended;
}
