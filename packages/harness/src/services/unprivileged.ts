import { execFile } from 'node:child_process';
import { chown } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Command } from './child.ts';
import { NotHere } from './service.ts';

const run = promisify(execFile);

/**
 * The user and group ids for a server that refuses to run as root. `undefined` if this process is not root,
 * since it cannot change the user then.
 */
export type User = { readonly name: string; readonly uid: number; readonly gid: number } | undefined;

/**
 * Returns the user `name`, which a Debian package has created for its server. The server refuses to run as
 * root.
 */
export async function unprivilegedUser(name: string): Promise<User> {
  if (process.getuid?.() !== 0) return undefined;
  const ids = ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout));
  const [uid, gid] = await Promise.all(ids).catch((cause: unknown) => {
    throw new NotHere(
      `this process is root, as which the server does not run, and there is no user ${name}`,
      {
        cause,
      },
    );
  });
  return { name, uid: uid!, gid: gid! };
}

/** Gives ownership of these files or directories to the user. */
export async function giveTo(user: User, ...paths: readonly string[]): Promise<void> {
  if (user === undefined) return;
  for (const path of paths) await chown(path, user.uid, user.gid);
}

/**
 * Returns a command that runs a program as `user`, by setpriv(1). Its option `--pdeathsig` lets the kernel
 * kill the program when the process that starts it dies. setpriv(1) requests this after it has changed the
 * user, because the change would cancel an earlier request.
 */
export function commandAs(user: User, { program, args }: Command): Command {
  if (user === undefined) return { program, args };
  const change = [`--reuid=${String(user.uid)}`, `--regid=${String(user.gid)}`, '--clear-groups'];
  return { program: 'setpriv', args: [...change, '--pdeathsig', 'KILL', '--', program, ...args] };
}

/** Runs a command as `user` in `directory`, to set up a server. Resolves when the command has ended. */
export async function runAs(user: User, command: Command, directory: string): Promise<void> {
  const { program, args } = commandAs(user, command);
  await run(program, [...args], { cwd: directory, timeout: 60_000, maxBuffer: 16 * 1024 * 1024 });
}
