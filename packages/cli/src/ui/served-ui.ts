import { userInfo } from 'node:os';
import { createBridge, serve, type Action, type Contenders, type Served } from '@queuelock/bridge';
import type { LockClient } from '@queuelock/core';
import { pageFolder } from '@queuelock/dashboard';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { PageFiles } from './page-files.ts';

/** The lock client, the permissions and the contenders of a served page. */
export interface UiSettings {
  readonly client: LockClient;
  /** Name of the store, for display. */
  readonly storeLabel: string;
  readonly port: number;
  /** Whether the page must not evict entries, send handover requests or join queues. */
  readonly isReadOnly: boolean;
  /** Contenders of the demo that visitors may disturb. */
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

/** Returns the user's name, or the user's id if the system has no name for it. */
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
