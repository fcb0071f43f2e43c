import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Command } from '@queuelock/harness/services/child';
import { startProcess, type Place } from '@queuelock/harness/services/server-process';
import {
  SHORT_LIVED,
  zooKeeperCommand,
  zooKeeperVersion,
} from '@queuelock/harness/services/zookeeper-process';
import { sendFourLetterWord } from '../../src/server/four-letter-words.ts';
import { tlsOf } from '../../src/api/tls.ts';
import type { Certificates } from '@queuelock/harness/services/certificates';

/** A ZooKeeper server that accepts TLS connections on `port`. */
export interface SecureServer {
  readonly port: number;
  /** Restarts the server on the same data, with the present certificates. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a ZooKeeper server with TLS that accepts only clients with a certificate of the test's authority.
 */
export async function startSecureZooKeeper(certificates: Certificates): Promise<SecureServer> {
  let port = 0;
  const started = await startProcess({
    name: 'zookeeper-tls',
    ports: 2,
    command: async (place) => {
      const { ca, server } = certificates;
      port = place.ports[1]!;
      const [identity, authority] = [join(place.directory, 'server.pem'), join(place.directory, 'ca.pem')];
      await writeFile(identity, Buffer.concat([server.key, server.cert]));
      await writeFile(authority, ca);
      const lines = {
        secureClientPort: port,
        secureClientPortAddress: place.host,
        'ssl.keyStore.location': identity,
        'ssl.trustStore.location': authority,
      };
      const javaOptions = [
        ...SHORT_LIVED,
        '-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory',
      ];
      return withNetty(await zooKeeperCommand(place, {}, { lines, javaOptions }));
    },
    probe: async ({ ports }: Place) => {
      const { ca, client } = certificates;
      // Makes the first TLS handshake of the server before the test, since it takes much longer than later
      // ones.
      await sendFourLetterWord(
        { host: 'localhost', port, tls: tlsOf({ ca, ...client }) },
        'srvr',
        MAX_WAIT_MS,
      );
      return zooKeeperVersion(`127.0.0.1:${ports[0]}`);
    },
  });
  return { port, restart: () => started.restart(), stop: () => started.stop() };
}

const MAX_WAIT_MS = 10_000;

// For TLS, ZooKeeper of Debian needs some jars that its manifest does not list. `withNetty` adds them to the
// class path.
const NETTY = ['codec', 'resolver'].map((part) => `/usr/share/java/netty-${part}.jar`).join(delimiter);

function withNetty(command: Command): Command {
  const at = command.args.indexOf('-cp') + 1;
  if (at === 0) return command;
  const args = command.args.map((word, index) => (index === at ? `${word}${delimiter}${NETTY}` : word));
  return { ...command, args };
}
