// The proxies of one cluster, in a process separate from the tests, so that a blocked event loop of the tests
// does not stop the network. The process receives requests over the channel of fork() and responds to each.
// It ends when the channel closes.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Node, Weather } from './links.ts';
import { readSocksRequest, socksResponse } from './socks.ts';
import { Wires } from './wires.ts';

export type ProxiesRequest =
  | { readonly do: 'gate'; readonly node: Node; readonly members: readonly MemberPorts[] }
  | { readonly do: 'doors'; readonly node: Node; readonly members: readonly MemberPorts[] }
  | { readonly do: 'remove'; readonly node: Node }
  | { readonly do: 'apply'; readonly weather: Weather };

export interface MemberPorts {
  readonly node: Node;
  readonly ports: readonly number[];
}

export interface ProxiesResponse {
  readonly id: number;
  /** The ports on which the requested proxies listen. Absent if the request failed. */
  readonly ports?: readonly number[];
  readonly error?: string;
}

const HOST = '127.0.0.1';
const wires = new Wires();
const listeners = new Map<Node, Server[]>();

/** Opens the SOCKS port of a member, for its connections to any port of another member. */
function openGate(node: Node, members: readonly MemberPorts[]): Promise<number> {
  return listen(node, (client) => void passGate(node, members, client));
}

async function passGate(from: Node, members: readonly MemberPorts[], client: Socket): Promise<void> {
  client.on('error', () => undefined);
  const port = await readSocksRequest(client).catch(() => undefined);
  const to = members.find(({ ports }) => port !== undefined && ports.includes(port));
  if (port === undefined || to === undefined) client.destroy();
  else
    wires.carry({
      from,
      to: to.node,
      client,
      target: { host: HOST, port },
      onConnected: () => client.write(socksResponse(true)),
      onRefused: () => client.end(socksResponse(false)),
    });
}

/** Opens the port through which a client connects to one member. */
function openDoor(node: Node, member: MemberPorts): Promise<number> {
  const target = { host: HOST, port: member.ports[0]! };
  return listen(node, (client) => wires.carry({ from: node, to: member.node, client, target }));
}

async function listen(node: Node, take: (client: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, take);
  listeners.set(node, [...(listeners.get(node) ?? []), server]);
  server.listen(0, HOST);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function perform(request: ProxiesRequest): Promise<number[]> {
  switch (request.do) {
    case 'gate':
      return [await openGate(request.node, request.members)];
    case 'doors':
      return Promise.all(request.members.map((member) => openDoor(request.node, member)));
    case 'remove':
      for (const server of listeners.get(request.node) ?? []) server.close();
      listeners.delete(request.node);
      wires.drop(request.node);
      return [];
    case 'apply':
      wires.apply(request.weather);
      return [];
  }
}

process.on('message', ({ id, request }: { id: number; request: ProxiesRequest }) => {
  const respond = (rest: Omit<ProxiesResponse, 'id'>): unknown => process.send?.({ id, ...rest });
  perform(request).then(
    (ports) => respond({ ports }),
    (error: unknown) => respond({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
