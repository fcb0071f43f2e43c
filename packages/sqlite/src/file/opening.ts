import type { Clock } from '@queuelock/core/backend';
import { QueueLockError, invalidArgument } from '@queuelock/core/backend';
import { loadDriver, type Database } from '../driver/driver.ts';
import { asQueueLockError, isBusy } from '../driver/errors.ts';
import { prepareFile } from './file.ts';
import { identityOf, isSameFile, type FileIdentity } from './identity.ts';
import { requireOwnFile } from './ownership.ts';
import { bootId } from '../base/machine.ts';
import { fileKindOf, requireUsable, startBoot, upgrade } from '../queue/schema.ts';

const OPEN_TIMEOUT_MS = 5_000;
const MAX_RETRY_DELAY_MS = 20;

/** An open file with the present schema. */
export interface OpenFile {
  readonly db: Database;
  /** The absolute path of the file, without symbolic links. */
  readonly path: string;
  readonly identity: FileIdentity;
}

/** Opens the file, and creates or upgrades it if necessary. Files of other programs are not changed. */
export async function openFile(
  file: string,
  {
    clock,
    beforeOpening,
  }: { readonly clock: Clock; readonly beforeOpening: (path: string) => Promise<void> },
): Promise<OpenFile> {
  const { DatabaseSync } = await loadDriver();
  const path = prepareFile(file);
  await beforeOpening(path);
  const [main] = identityOf(path);
  let db: Database | undefined;
  try {
    db = new DatabaseSync(path);
    await prepare(db, { file, clock });
    // Checks the owners of the files again, because another user may have created side files since the first
    // check.
    requireOwnFile(path);
    // The identity includes the side files, which SQLite has created by now.
    const identity = identityOf(path);
    if (isSameFile([main, ...identity.slice(1)], identity)) return { db, path, identity };
    throw new QueueLockError('UNAVAILABLE', `${file} was replaced while it was opened`);
  } catch (error) {
    db?.close();
    throw asQueueLockError(error, file);
  }
}

async function prepare(
  db: Database,
  { file, clock }: { readonly file: string; readonly clock: Clock },
): Promise<void> {
  const until = clock.now() + OPEN_TIMEOUT_MS;
  // Disables the busy timeout of SQLite, which would block the event loop while the file is locked. Without
  // the busy timeout, a call on a locked file throws at once, and is repeated later.
  db.exec('pragma busy_timeout = 0');
  await retryWhileBusy(() => requireUsable(fileKindOf(db), file), { clock, until });
  await retryWhileBusy(() => initialize(db, file), { clock, until });
}

function initialize(db: Database, file: string): void {
  const boot = bootId();
  // With a write-ahead log, readers do not block the writer, and a commit writes only to the log; see
  // https://www.sqlite.org/wal.html.
  const { journal_mode } = db.prepare('pragma journal_mode = wal').get() as { readonly journal_mode: string };
  if (journal_mode !== 'wal')
    throw invalidArgument(
      'file',
      file,
      'is on a file system where SQLite can share memory between processes; this one does not support it',
    );
  // The transaction that records a new boot is synced to disk. So is every transaction if the boot id is
  // unknown. Otherwise a power failure could undo the record, and fencing tokens would repeat.
  db.exec('pragma synchronous = full');
  db.exec('begin immediate');
  try {
    const form = fileKindOf(db);
    requireUsable(form, file);
    upgrade(db, form);
    startBoot(db, boot);
    db.exec('commit');
  } catch (error) {
    db.exec('rollback');
    throw error;
  }
  if (boot !== '') db.exec('pragma synchronous = normal');
}

/** Repeats `work` while other processes have locked the file, until the timeout. */
async function retryWhileBusy(
  attempt: () => void,
  { clock, until }: { readonly clock: Clock; readonly until: number },
): Promise<void> {
  for (;;) {
    try {
      attempt();
      return;
    } catch (error) {
      if (!isBusy(error) || clock.now() >= until) throw error;
    }
    await new Promise<void>((resolve) => clock.after(1 + Math.random() * MAX_RETRY_DELAY_MS, resolve));
  }
}
