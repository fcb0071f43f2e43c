import { writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { etcdCommand } from './etcd-process.ts';
import { startProcess, type Place } from './server-process.ts';
import type { ProcessService } from './service.ts';
import type { Certificates } from './certificates.ts';

/**
 * Starts an etcd server with TLS. It accepts only clients with a certificate of the same authority as its
 * own.
 */
export function startTlsServer(certificates: Certificates): Promise<ProcessService> {
  return startProcess({
    name: 'etcd-tls',
    ports: 2,
    command: async (place) => etcdCommand(await argsOf(place, certificates), {}),
    probe: (place) => versionAt(place, certificates),
  });
}

async function argsOf(place: Place, { ca, server }: Certificates): Promise<string[]> {
  const files = { ca, cert: server.cert, key: server.key };
  for (const [name, pem] of Object.entries(files)) await writeFile(join(place.directory, `${name}.pem`), pem);
  const file = (name: keyof typeof files): string => join(place.directory, `${name}.pem`);
  const [client, peer] = [
    `https://${place.host}:${place.ports[0]}`,
    `http://${place.host}:${place.ports[1]}`,
  ];
  return [
    `--data-dir=${place.data}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    `--cert-file=${file('cert')}`,
    `--key-file=${file('key')}`,
    `--trusted-ca-file=${file('ca')}`,
    '--client-cert-auth=true',
  ];
}

/**
 * Resolves with the version of the etcd server at the address of `place`. An unrelated server cannot respond,
 * because it has no certificate of the test's authority.
 */
async function versionAt(place: Place, { ca, client }: Certificates): Promise<string> {
  const request = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { host: place.host, port: place.ports[0], path, ca, ...client, agent: false };
      get(options, (response) => {
        if (response.statusCode === 200) text(response).then(resolve, reject);
        else reject(new Error(`etcd answers ${response.statusCode} to ${path}`));
      }).on('error', reject);
    });
  await request('/health');
  return (JSON.parse(await request('/version')) as { etcdserver: string }).etcdserver;
}
