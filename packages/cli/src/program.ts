import { readFileSync } from 'node:fs';
import { Command } from '@commander-js/extra-typings';
import { addCompletion } from './commands/completion.ts';
import { addContend } from './commands/contend.ts';
import { addDemo } from './commands/demo.ts';
import { addElect } from './commands/elect.ts';
import { addLeader } from './commands/leader.ts';
import { addMan } from './commands/man.ts';
import { addRun } from './commands/run.ts';
import { describeUsageError } from './failure.ts';
import { explain } from './help.ts';
import { addViews } from './view/commands.ts';
import { writeOut } from './lines.ts';

const NOTES = `Where the queues are: --backend URL, else --profile NAME, else QUEUELOCK_URL, else QUEUELOCK_PROFILE, else the default of the
configuration, ~/.config/queuelock/config.json (or QUEUELOCK_CONFIG):
  memory:                                         this process alone
  sqlite:path/to/file                             a file: the processes of one machine, without a server
  etcd://[user:password@]host:port[,…][/prefix]   etcd; etcds:// with TLS, ?ca=file&cert=file&key=file
  zk://[user:password@]host:port[,…][/chroot]     ZooKeeper; ?tickTimeMs=2000&syncLimit=5 as the servers have them; zks:// with TLS, as etcds://
  redis://[user:password@]host:port[/database]    Redis, Valkey; rediss:// with TLS, ?ca=file&cert=file&key=file
  postgres://[user:password@]host:port/database   PostgreSQL; ?schema=name, TLS with ?sslmode=verify-full&ca=file&cert=file&key=file
  mysql://[user:password@]host:port/database      MySQL, MariaDB; ?tls=true with TLS, ?ca=file&cert=file&key=file

Others can read a command line: give passwords in QUEUELOCK_PASSWORD or QUEUELOCK_PASSWORD_FILE with QUEUELOCK_USER, or in the configuration.

Exit codes:
  0          done
  1          failed: no server, no access, a violation was found
  2          wrong command line or configuration
  3          not there: nobody leads, no such entry
  69         somebody else has the lock, and the wait was over
  75         the lock was lost while it was held
  126, 127   the command could not be started, there is no such command
  128+n      ended by signal n; 141 when the reader of the output went away
  others     of a command that was run: its own`;

/** The command line of `queuelock`, with all its commands. */
export function createProgram(): Command {
  const program = new Command('queuelock')
    .description('Fair locks over etcd, ZooKeeper or a SQLite file: first come, first served.')
    .version(version(), '--version')
    .exitOverride()
    .configureOutput({
      writeOut,
      outputError: (text, write) => {
        write(`${describeUsageError(text)}\n`);
      },
    });
  explain(program, {
    notes: NOTES,
    examples: [
      'queuelock demo',
      'queuelock run nightly --backend etcd://127.0.0.1:2379 -- ./import.sh',
      'queuelock contend stock --backend etcd://127.0.0.1:2379 --count 3 --hold 200 --json',
    ],
  });
  addDemo(program);
  addRun(program);
  addElect(program);
  addLeader(program);
  addViews(program);
  addContend(program);
  addCompletion(program);
  addMan(program);
  return program;
}

function version(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
