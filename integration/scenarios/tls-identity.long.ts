import { mysql } from '@queuelock/mysql';
import { postgres } from '@queuelock/postgres';
import { describeTlsIdentity } from './tls-identity.ts';
import { MYSQL, POSTGRES } from './tls-server.ts';

describeTlsIdentity({
  'postgres over postgres.js': {
    prelude: POSTGRES,
    connect: (host, ca) => postgres({ url: `postgres://u:p@${host}/db?driver=postgres`, tls: { ca } }),
  },
  'mysql over npm mariadb': {
    prelude: MYSQL,
    connect: (host, ca) => mysql({ url: `mysql://u:p@${host}/db?driver=mariadb`, tls: { ca } }),
  },
});
