import { mariadbWithUser, postgresWithUser, redisWithUser } from './password-servers.ts';
import { describePasswords } from './passwords.ts';

describePasswords('Redis', redisWithUser);
for (const driver of ['pg', 'postgres'] as const)
  describePasswords(`PostgreSQL over npm ${driver}`, postgresWithUser(driver));
for (const driver of ['mysql2', 'mariadb'] as const)
  describePasswords(`MariaDB over npm ${driver}`, mariadbWithUser(driver));
