import { writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { join } from 'node:path';
import type { Certificates } from './certificates.ts';
import {
  configurationOf,
  type Http2ProxyName,
  type Http2ProxySettings,
} from './http2-proxy-configurations.ts';
import { installPackages } from './install.ts';
import { assertPrepared } from './prepared.ts';
import { findProgram } from './programs.ts';
import { startProcess, type Place } from './server-process.ts';
import { NotHere, type ProcessService, type Service } from './service.ts';

export type { Http2ProxyName, Http2ProxySettings };

/** The properties of a proxy that tests depend on. */
interface Http2Proxy {
  /** The Debian package that contains the proxy. */
  readonly package: string;
  /** The signal that makes the proxy load its configuration again. It then ends its connections by a GOAWAY. Caddy has no such signal. */
  readonly reloadSignal?: NodeJS.Signals;
  /** Whether the proxy ends a stream on which nothing was sent for `idleSeconds`. */
  readonly endsIdleStreams: boolean;
}

/** The proxies that can forward gRPC calls, by the names of their programs. */
export const HTTP2_PROXIES: Readonly<Record<Http2ProxyName, Http2Proxy>> = {
  nginx: { package: 'nginx', reloadSignal: 'SIGHUP', endsIdleStreams: true },
  haproxy: { package: 'haproxy', reloadSignal: 'SIGUSR2', endsIdleStreams: true },
  nghttpx: { package: 'nghttp2-proxy', reloadSignal: 'SIGHUP', endsIdleStreams: true },
  caddy: { package: 'caddy', endsIdleStreams: false },
  apache2: { package: 'apache2-bin', reloadSignal: 'SIGUSR1', endsIdleStreams: false },
};

export const HTTP2_PROXY_NAMES = Object.keys(HTTP2_PROXIES) as readonly Http2ProxyName[];

/**
 * Resolves with the path of the proxy's program. Installs it if it is absent and the process is allowed to.
 * @throws {NotHere} if the program is not available
 */
export async function findHttp2Proxy(name: Http2ProxyName): Promise<string> {
  assertPrepared('HTTP/2 proxies');
  if ((await findProgram(name)) === undefined) await installPackages([HTTP2_PROXIES[name].package]);
  const program = await findProgram(name);
  if (program === undefined) throw new NotHere(`${name} is not installed`);
  return program;
}

/**
 * Starts an HTTP/2 proxy in front of an etcd server. Installs the proxy if it is absent and the process is allowed to.
 * Settings that the proxy does not have are ignored.
 */
export async function startHttp2Proxy(
  name: Http2ProxyName,
  { endpoint }: Pick<Service, 'endpoint'>,
  settings: Http2ProxySettings = {},
): Promise<ProcessService> {
  const program = await findHttp2Proxy(name);
  return startProcess({
    name,
    ports: 1,
    async command(place) {
      await writeCertificates(place, settings.certificates);
      const { file, args } = configurationOf(name, { place, server: endpoint, settings });
      await writeFile(join(place.directory, 'proxy.conf'), file);
      return { program, args };
    },
    probe: (place) => probe(place, { name, ca: settings.certificates?.ca }),
  });
}

async function writeCertificates(
  { directory }: Place,
  certificates: Certificates | undefined,
): Promise<void> {
  if (!certificates) return;
  const { ca, server, client } = certificates;
  const pems = {
    'ca.pem': ca,
    'server.pem': Buffer.concat([server.cert, server.key]),
    'server.crt': server.cert,
    'server.key': server.key,
    'client.pem': Buffer.concat([client.cert, client.key]),
    'client.crt': client.cert,
    'client.key': client.key,
  };
  for (const [file, pem] of Object.entries(pems)) await writeFile(join(directory, file), pem);
}

interface ProbeOptions {
  readonly name: string;
  readonly ca: Buffer | undefined;
}

/** Resolves when the etcd server behind the proxy has replied to a gRPC request for its status. */
function probe({ host, ports }: Place, { name, ca }: ProbeOptions): Promise<string> {
  const session = connect(`${ca ? 'https' : 'http'}://${host}:${ports[0]}`, ca ? { ca } : {});
  const reply = new Promise<string>((resolve, reject) => {
    session.on('error', reject).setTimeout(5_000, () => reject(new Error('no reply within 5 s')));
    const call = session.request({
      ':method': 'POST',
      ':path': '/etcdserverpb.Maintenance/Status',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    call.on('error', reject).on('close', () => reject(new Error('the response has no trailers')));
    call.on('response', ({ ':status': status }) => status !== 200 && reject(new Error(`status ${status}`)));
    call.on('trailers', ({ 'grpc-status': status }) => {
      if (status === '0') resolve(name);
      else reject(new Error(`gRPC status ${String(status)}`));
    });
    call.resume().end(Buffer.alloc(5));
  });
  return reply.finally(() => session.destroy());
}
