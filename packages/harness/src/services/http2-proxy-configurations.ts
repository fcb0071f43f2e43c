import type { Certificates } from './certificates.ts';
import type { Place } from './server-process.ts';

/** The programs of the proxies. */
export type Http2ProxyName = 'nginx' | 'haproxy' | 'nghttpx' | 'caddy' | 'apache2';

/** Settings of an HTTP/2 proxy that tests change. A setting without a value keeps the default of the program. */
export interface Http2ProxySettings {
  /**
   * Certificates for TLS on both sides of the proxy. The proxy shows the server's certificate to clients and the client's certificate to the server.
   * Default: cleartext HTTP/2 with prior knowledge on both sides.
   */
  readonly certificates?: Certificates;
  /** How many streams a client may have open on one connection. Not for Caddy. */
  readonly maxStreams?: number;
  /** After how many requests the proxy ends a connection of a client with a GOAWAY. Only for nginx. */
  readonly requestsPerConnection?: number;
  /** After how many seconds without data the proxy ends a stream, or a connection without streams. Not for Apache, and for Caddy only connections. */
  readonly idleSeconds?: number;
}

interface ConfigurationInput {
  readonly place: Place;
  /** The address of the server behind the proxy, as `host:port`. */
  readonly server: string;
  readonly settings: Http2ProxySettings;
}

interface Configuration {
  /** The text of the file `proxy.conf` in the directory of the proxy. */
  readonly file: string;
  readonly args: readonly string[];
}

const FILE = 'proxy.conf';

const CONFIGURATIONS: Readonly<Record<Http2ProxyName, (input: ConfigurationInput) => Configuration>> = {
  nginx,
  haproxy,
  nghttpx,
  caddy,
  apache2,
};

/** Returns the configuration of a proxy, and the arguments of its program. The program runs in the directory of `place`. */
export function configurationOf(name: Http2ProxyName, input: ConfigurationInput): Configuration {
  return CONFIGURATIONS[name](input);
}

function lines(...all: readonly (string | false | undefined)[]): string {
  return `${all.filter((line) => line !== false && line !== undefined).join('\n')}\n`;
}

function nginx({ place, server, settings }: ConfigurationInput): Configuration {
  const { certificates, maxStreams, requestsPerConnection, idleSeconds } = settings;
  const { host, ports, directory } = place;
  const seconds = idleSeconds === undefined ? undefined : `${idleSeconds}s`;
  return {
    args: ['-p', directory, '-e', 'stderr', '-c', `${directory}/${FILE}`],
    file: lines(
      'daemon off; worker_processes 1; pid nginx.pid; error_log stderr;',
      process.getuid?.() === 0 && 'user root;',
      'events { worker_connections 1024; }',
      'http {',
      '  access_log off; client_body_temp_path body; proxy_temp_path proxy;',
      '  fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;',
      '  server {',
      `    listen ${host}:${ports[0]} http2${certificates ? ' ssl' : ''};`,
      '    client_max_body_size 0;',
      maxStreams !== undefined && `    http2_max_concurrent_streams ${maxStreams};`,
      requestsPerConnection !== undefined && `    keepalive_requests ${requestsPerConnection};`,
      seconds &&
        `    keepalive_timeout ${seconds}; client_body_timeout ${seconds}; grpc_read_timeout ${seconds}; grpc_send_timeout ${seconds};`,
      certificates && '    ssl_certificate server.crt; ssl_certificate_key server.key;',
      '    location / {',
      `      grpc_pass ${certificates ? 'grpcs' : 'grpc'}://${server};`,
      certificates && '      grpc_ssl_certificate client.crt; grpc_ssl_certificate_key client.key;',
      certificates &&
        '      grpc_ssl_trusted_certificate ca.pem; grpc_ssl_verify on; grpc_ssl_name localhost;',
      '    }',
      '  }',
      '}',
    ),
  };
}

function haproxy({ place, server, settings }: ConfigurationInput): Configuration {
  const { certificates, maxStreams, idleSeconds = 50 } = settings;
  const { host, ports, directory } = place;
  return {
    args: ['-W', '-db', '-f', `${directory}/${FILE}`],
    file: lines(
      'global',
      '  maxconn 500',
      maxStreams !== undefined && `  tune.h2.max-concurrent-streams ${maxStreams}`,
      'defaults',
      '  mode http',
      `  timeout connect 5s`,
      `  timeout client ${idleSeconds}s`,
      `  timeout server ${idleSeconds}s`,
      'frontend clients',
      `  bind ${host}:${ports[0]} ${certificates ? `ssl crt ${directory}/server.pem alpn h2` : 'proto h2'}`,
      '  default_backend etcd',
      'backend etcd',
      certificates
        ? `  server etcd ${server} ssl alpn h2 verify required ca-file ${directory}/ca.pem crt ${directory}/client.pem`
        : `  server etcd ${server} proto h2`,
    ),
  };
}

function nghttpx({ place, server, settings }: ConfigurationInput): Configuration {
  const { certificates, maxStreams, idleSeconds } = settings;
  const { host, ports, directory } = place;
  const backend = server.replace(':', ',');
  return {
    args: [`--conf=${directory}/${FILE}`],
    file: lines(
      `frontend=${host},${ports[0]}${certificates ? '' : ';no-tls'}`,
      `backend=${backend};;proto=h2${certificates ? ';tls;sni=localhost' : ''}`,
      'accesslog-file=/dev/null',
      'errorlog-file=/dev/stderr',
      certificates && `private-key-file=${directory}/server.key`,
      certificates && `certificate-file=${directory}/server.crt`,
      certificates && `cacert=${directory}/ca.pem`,
      certificates && `client-private-key-file=${directory}/client.key`,
      certificates && `client-cert-file=${directory}/client.crt`,
      certificates && 'no-ocsp=yes',
      maxStreams !== undefined && `frontend-http2-max-concurrent-streams=${maxStreams}`,
      idleSeconds !== undefined && `stream-read-timeout=${idleSeconds}`,
    ),
  };
}

function caddy({
  place,
  server,
  settings: { certificates, idleSeconds },
}: ConfigurationInput): Configuration {
  const { host, ports, directory } = place;
  return {
    args: ['run', '--adapter', 'caddyfile', '--config', `${directory}/${FILE}`],
    file: lines(
      '{',
      `  admin unix/${directory}/admin.sock`,
      '  auto_https off',
      '  storage file_system data',
      '  servers {',
      '    protocols h1 h2 h2c',
      idleSeconds !== undefined && `    timeouts {\n      idle ${idleSeconds}s\n    }`,
      '  }',
      '}',
      `${certificates ? 'https' : 'http'}://${host}:${ports[0]} {`,
      certificates && `  tls ${directory}/server.crt ${directory}/server.key`,
      `  reverse_proxy ${certificates ? 'https' : 'h2c'}://${server} {`,
      '    flush_interval -1',
      certificates && '    transport http {',
      certificates && '      versions 2',
      certificates && `      tls_trusted_ca_certs ${directory}/ca.pem`,
      certificates && `      tls_client_auth ${directory}/client.crt ${directory}/client.key`,
      certificates && '    }',
      '  }',
      '}',
    ),
  };
}

const APACHE_MODULES = ['mpm_event', 'authz_core', 'http2', 'proxy', 'proxy_http2', 'ssl'];

function apache2({ place, server, settings }: ConfigurationInput): Configuration {
  const { certificates, maxStreams } = settings;
  const { host, ports, directory } = place;
  return {
    args: ['-D', 'FOREGROUND', '-f', `${directory}/${FILE}`],
    file: lines(
      ...APACHE_MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
      'User www-data',
      'Group www-data',
      `ServerRoot ${directory}`,
      `DefaultRuntimeDir ${directory}`,
      'PidFile apache.pid',
      'ErrorLog /dev/stderr',
      'ServerName localhost',
      `Listen ${host}:${ports[0]}`,
      `Protocols ${certificates ? 'h2' : 'h2c'}`,
      'H2Direct on',
      // Each open stream occupies a thread, and a client with a lock has two of them open.
      'ThreadLimit 400',
      'ThreadsPerChild 400',
      'MaxRequestWorkers 400',
      'StartServers 1',
      'H2MaxWorkers 800',
      maxStreams !== undefined && `H2MaxSessionStreams ${maxStreams}`,
      certificates && 'SSLEngine on',
      certificates && 'SSLCertificateFile server.crt',
      certificates && 'SSLCertificateKeyFile server.key',
      certificates && 'SSLProxyEngine on',
      certificates && 'SSLProxyCACertificateFile ca.pem',
      certificates && 'SSLProxyMachineCertificateFile client.pem',
      // Apache compares the name of the server with the DNS names of its certificate only, not with its IP addresses.
      `ProxyPass / ${certificates ? 'h2' : 'h2c'}://localhost:${server.split(':')[1]}/`,
    ),
  };
}
