import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Route } from '../services/endpoint.ts';
import { etcdCommand, hasEtcd, installEtcd, type EtcdFlags } from '../services/etcd-process.ts';
import type { Place, ServerProgram } from '../services/server-process.ts';
import type { MemberSite } from './network.ts';
import { routeOf, type ReachableMember, type Store, type View } from './store.ts';

export function etcdStore(flags: EtcdFlags): Store {
  // A unique cluster token. It distinguishes these members from an unrelated etcd server on the same port.
  const token = randomBytes(6).toString('hex');
  return {
    name: 'etcd',
    usualPorts: [2379, 2380],
    isHere: hasEtcd,
    install: installEtcd,
    program: (site, all) => memberProgram({ site, all, token, flags }),
    view: viewOf,
  };
}

interface Membership {
  readonly site: MemberSite;
  readonly all: readonly MemberSite[];
  readonly token: string;
  readonly flags: EtcdFlags;
}

function memberProgram({ site, all, token, flags }: Membership): ServerProgram {
  const name = `${site.node}-${token}`;
  return {
    name: 'etcd',
    ports: site.ports.length,
    command: async (place) => {
      const command = await etcdCommand(memberArgs(place, { site, all, token, flags }), flags);
      return site.inside({ ...command, env: gateEnvironment(site) });
    },
    probe: async () => {
      const { members } = (await callMember(routeOf(site), '/v3/cluster/member/list')) as {
        members: { name?: string }[];
      };
      if (!members.some((member) => member.name === name)) throw new Error(`another etcd answers there`);
      await callMember(routeOf(site), '/health');
      return ((await callMember(routeOf(site), '/version')) as { etcdserver: string }).etcdserver;
    },
  };
}

function memberArgs(place: Place, { site, all, token }: Membership): string[] {
  const [client, peer] = site.ports.map((port) => `http://${site.host}:${port}`);
  const cluster = all.map((member) => `${member.node}-${token}=${peerUrl(member)}`);
  return [
    `--name=${site.node}-${token}`,
    `--data-dir=${place.data}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peerUrl(site)}`,
    `--initial-cluster=${cluster.join(',')}`,
    `--initial-cluster-token=${token}`,
  ];
}

// Go uses no proxy for loopback addresses. So members that reach each other through a SOCKS proxy have
// addresses that are reserved for documentation (RFC 5737). Nothing is ever sent to these addresses, because
// the proxy selects the member by the port.
function peerUrl({ host, ports, gate }: MemberSite): string {
  return `http://${gate === undefined ? host : '203.0.113.1'}:${ports[1]}`;
}

function gateEnvironment({ gate }: MemberSite): Record<string, string> {
  if (gate === undefined) return {};
  const proxy = `socks5://127.0.0.1:${gate}`;
  return { HTTP_PROXY: proxy, http_proxy: proxy, NO_PROXY: '', no_proxy: '' };
}

// Reads the status of one member. The member responds from its own state, not through Raft, so a member that
// is cut off responds too. etcd's JSON contains 64-bit numbers as strings.
async function viewOf({ route }: ReachableMember): Promise<View> {
  const status = (await callMember(route, '/v3/maintenance/status', 500)) as {
    header: { member_id: string };
    leader?: string;
    raftTerm: string;
  };
  const { leader = '0' } = status;
  const known = leader === status.header.member_id ? 'leader' : 'follower';
  return { role: leader === '0' ? 'none' : known, term: Number(status.raftTerm), leader };
}

// Sends a request to a member. Does not use fetch(), which cannot choose the source address: the harness
// sends from an address that no fault affects. Calls of the JSON gateway (/v3) are POST requests.
async function callMember(route: Route, path: string, withinMs = 5_000): Promise<unknown> {
  const signal = AbortSignal.timeout(withinMs);
  const method = path.startsWith('/v3/') ? 'POST' : 'GET';
  const reply = await new Promise<{ status: number; body: string }>((resolve, reject) => {
    const requested = request({ ...route, path, method, agent: false, signal }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    requested.once('error', reject).end(method === 'POST' ? '{}' : undefined);
  });
  if (reply.status !== 200)
    throw new Error(`etcd on ${route.host}:${route.port} answers ${reply.status} to ${path}`);
  return JSON.parse(reply.body);
}
