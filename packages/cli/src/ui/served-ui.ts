import { userInfo } from 'node:os';
import { createBridge, serve, type Action, type Contenders, type Served } from '@queuelock/bridge';
import type { LockClient } from '@queuelock/core';
import { pageFolder } from '@queuelock/dashboard';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { PageFiles } from './page-files.ts';

/** What is served. */
export interface UiSettings {
  readonly client: LockClient;
  /** Where the queues are, for people. */
  readonly storeLabel: string;
  readonly port: number;
  /** Nobody evicts, asks or joins from the page. */
  readonly isReadOnly: boolean;
  /** For people to disturb. */
  readonly contenders?: Contenders;
}

/** Serves the page and its bridge on the loopback interface. */
export async function serveUi({ port, isReadOnly, ...shown }: UiSettings): Promise<Served> {
  const page = await PageFiles.in(pageFolder);
  const me = { name: userName() };
  const authorize = (_: Request, { kind }: Action): boolean | typeof me =>
    kind === 'facts' || kind === 'watch' || !isReadOnly ? me : false;
  const bridge = createBridge({ ...shown, authorize });
  const handle = bridge.withPage((request) => Promise.resolve(page.answer(request)));
  const served = await serve({ handle, port }).catch(async (cause: unknown) => {
    await bridge.close();
    throw refused(cause, port);
  });
  async function close(): Promise<void> {
    await bridge.close();
    await served.close();
  }
  return { ...served, close, [Symbol.asyncDispose]: close };
}

/** Where the system knows no name the number tells who it is. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${String(process.getuid?.() ?? '')}`;
  }
}

function refused(cause: unknown, port: number): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return cause;
  const why = code === 'EACCES' ? 'may not be used by this user' : 'is in use';
  return new Failure(`port ${String(port)} ${why}; choose another one with --port, or 0 for any`, {
    exitCode: EXIT.failure,
    cause,
  });
}
