// Runs one client in a process of its own, and measures its connection attempts and CPU time. Its servers fail all requests from when the test sends
// the first message to this process. Usage: storm-client.ts <StormPlan as JSON>
import { once } from 'node:events';
import { busyClient, costOf, openingAgain } from './storm-load.ts';
import type { StormEvent, StormPlan } from './storm-process.ts';

const { hosts, transport, does, forMs } = JSON.parse(process.argv[2]!) as StormPlan;
const ports = hosts.map((host) => Number(host.split(':')[1]));

function say(event: StormEvent): void {
  console.log(JSON.stringify(event));
}

process.on('disconnect', () => process.exit());
const client = does === 'holds and waits' ? await busyClient({ hosts, transport }) : undefined;
say({ ev: 'ready' });
await once(process, 'message');
const opening = client ? undefined : openingAgain({ hosts, transport });
say({ ev: 'cost', cost: await costOf(ports, forMs) });
await opening?.stop();
await client?.abandon();
process.disconnect();
