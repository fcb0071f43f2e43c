import { readFileSync } from 'node:fs';
import { Command } from '@commander-js/extra-typings';
import { describeUsageError } from './failure.ts';
import { explain } from './help.ts';
import { writeOut } from './lines.ts';

const NOTES = `The store is selected by --backend URL, else --profile NAME, else QUEUELOCK_URL, else QUEUELOCK_PROFILE, else the default of the
configuration, ~/.config/queuelock/config.json (or QUEUELOCK_CONFIG):
  memory:                                         this process alone
  sqlite:path/to/file                             a file: the processes of one machine, without a server
  etcd://[user:password@]host:port[,…][/prefix]   etcd; etcds:// with TLS, ?ca=file&cert=file&key=file
  zk://[user:password@]host:port[,…][/chroot]     ZooKeeper; ?tickTimeMs=2000&syncLimit=5 as the servers have them; zks:// with TLS, as etcds://
  redis://[user:password@]host:port[/database]    Redis, Valkey; rediss:// with TLS, ?ca=file&cert=file&key=file
  postgres://[user:password@]host:port/database   PostgreSQL; ?schema=name, TLS with ?sslmode=verify-full&ca=file&cert=file&key=file
                                                  ?driver=postgres connects by npm postgres, installed beside the command
  mysql://[user:password@]host:port/database      MySQL, MariaDB; ?tls=true with TLS, ?ca=file&cert=file&key=file
                                                  ?driver=mariadb connects by npm mariadb, installed beside the command
  consul://[:token@]host:port[,…][/prefix]        Consul; ?dc=, ?ns=, ?node=, ?minTtlMs=; consuls:// with TLS, ?ca=file&cert=file&key=file

Other users can read a command line: give passwords in QUEUELOCK_PASSWORD or QUEUELOCK_PASSWORD_FILE with QUEUELOCK_USER, or in the configuration.

Exit codes:
  0          done
  1          failed: no server, no access, a violation was found
  2          wrong command line or configuration
  3          not found: no leader, no such entry
  69         another client holds the lock, and the wait ended
  75         the lock was lost while it was held
  126, 127   the command could not be started, or does not exist
  128+n      ended by signal n; 141 when the reader of the output has closed it
  others     the code of the command that was run`;

type Add = (program: Command) => void;

// Commands in the order of the help. Each is loaded on demand, because loading all of them takes longer than
// most commands run.
const COMMANDS: ReadonlyMap<string, () => Promise<Add>> = new Map([
  ['demo', async () => (await import('./commands/demo.ts')).addDemo],
  ['run', async () => (await import('./commands/run.ts')).addRun],
  ['once', async () => (await import('./commands/once.ts')).addOnce],
  ['elect', async () => (await import('./commands/elect.ts')).addElect],
  ['leader', async () => (await import('./commands/leader.ts')).addLeader],
  ['ls', async () => (await import('./commands/ls.ts')).addLs],
  ['who', async () => (await import('./commands/who.ts')).addWho],
  ['watch', async () => (await import('./commands/watch.ts')).addWatch],
  ['top', async () => (await import('./commands/top.ts')).addTop],
  ['ui', async () => (await import('./commands/ui.ts')).addUi],
  ['history', async () => (await import('./commands/history.ts')).addHistory],
  ['kick', async () => (await import('./commands/kick.ts')).addKick],
  ['ask', async () => (await import('./commands/ask.ts')).addAsk],
  ['deadlocks', async () => (await import('./commands/deadlocks.ts')).addDeadlocks],
  ['doctor', async () => (await import('./commands/doctor.ts')).addDoctor],
  ['contend', async () => (await import('./commands/contend.ts')).addContend],
  ['completion', async () => (await import('./commands/completion.ts')).addCompletion],
  ['man', async () => (await import('./commands/man.ts')).addMan],
]);
/** Commands whose output describes all commands, so that all of them must be loaded. */
const ABOUT_ALL: readonly string[] = ['completion', 'man'];

/**
 * Makes the command line parser of `queuelock`. Loads only the command with the name `named`. Loads all
 * commands if no command has that name, or if its output describes all commands.
 */
export async function createProgram(named = ''): Promise<Command> {
  const program = new Command('queuelock')
    .description(
      'Fair locks over etcd, ZooKeeper, Redis, PostgreSQL, MySQL or a SQLite file: first come, first served.',
    )
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
  const one = ABOUT_ALL.includes(named) ? undefined : COMMANDS.get(named);
  const loads = one ? [one] : [...COMMANDS.values()];
  for (const add of await Promise.all(loads.map((load) => load()))) add(program);
  return program;
}

function version(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
