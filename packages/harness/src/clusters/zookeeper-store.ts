import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../services/child.ts';
import { zkFourLetter } from '../services/four-letter.ts';
import type { Place, ServerProgram } from '../services/server-process.ts';
import {
  SHORT_LIVED,
  hasZooKeeper,
  installZooKeeper,
  zooKeeperCommand,
  zooKeeperVersion,
  type ZooKeeperSettings,
} from '../services/zookeeper-process.ts';
import type { MemberSite } from './network.ts';
import { runTool } from './run-tool.ts';
import { routeOf, type ReachableMember, type Store, type View } from './store.ts';

export function zooKeeperStore(settings: ZooKeeperSettings): Store {
  return {
    name: 'ZooKeeper',
    usualPorts: [2181, 2888, 3888],
    isHere: hasZooKeeper,
    install: installZooKeeper,
    program: (site, all) => memberProgram(site, all, settings),
    view: viewOf,
  };
}

function memberProgram(
  site: MemberSite,
  all: readonly MemberSite[],
  settings: ZooKeeperSettings,
): ServerProgram {
  return {
    name: 'zookeeper',
    ports: site.ports.length,
    command: async (place) => site.inside(await memberCommand(place, { site, all, settings })),
    probe: async (place) => {
      const version = await zooKeeperVersion(routeOf(site));
      // Compares the data directory that the server reports, to detect an unrelated ZooKeeper server on the
      // same port.
      const config = await zkFourLetter(routeOf(site), 'conf');
      if (!config.includes(place.data)) throw new Error('another ZooKeeper answers there');
      return version;
    },
  };
}

interface Membership {
  readonly site: MemberSite;
  readonly all: readonly MemberSite[];
  readonly settings: ZooKeeperSettings;
}

async function memberCommand(place: Place, { site, all, settings }: Membership): Promise<Command> {
  // Writes the file `myid` with a program that runs at the member's location, because the member's disk may
  // be visible only there.
  await runTool(site.inside({ program: 'tee', args: [join(place.data, 'myid')] }), numberOf(site));
  const lines = all.map((member) => {
    const [, quorum, election] = member.ports;
    return [`server.${numberOf(member)}`, `${member.host}:${quorum}:${election}`];
  });
  return zooKeeperCommand(place, settings, {
    lines: Object.fromEntries(lines) as Record<string, string>,
    javaOptions: [...SHORT_LIVED, ...gateOptions(site)],
  });
}

// By default Java uses no proxy for loopback addresses. The empty list of exceptions makes it use the proxy
// for them too.
function gateOptions({ gate }: MemberSite): string[] {
  if (gate === undefined) return [];
  return ['-DsocksProxyHost=127.0.0.1', `-DsocksProxyPort=${gate}`, '-DsocksNonProxyHosts='];
}

const numberOf = ({ node }: MemberSite): string => node.replace(/^.*-/, '');

// Reads a member's own view of its role and epoch. Only a leader reports its epoch. The epoch of a follower
// is read from the file in which the follower stores the epoch that it accepted.
async function viewOf({ route, data }: ReachableMember): Promise<View> {
  const response = await zkFourLetter(route, 'srvr', 500);
  const mode = /^Mode: (\w+)$/m.exec(response)?.[1];
  if (mode !== 'leader' && mode !== 'follower') return { role: 'none', term: 0 };
  return { role: mode, term: Number(await readFile(join(data, 'version-2/currentEpoch'), 'utf8')) };
}
