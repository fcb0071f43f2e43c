import { readdirSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { QueueLockError } from '@queuelock/core/backend';
import { INQUIRY_REPLY, INQUIRY, inboxFolderOf, isInboxOf } from './inbox.ts';

/** The timeout of a reply, in milliseconds. A process whose event loop is blocked replies late. */
const TIMEOUT_MS = 5_000;

/**
 * Requests from each process that has the file open to compare it with the files on the disk, when a part of it is missing. SQLite would create a
 * missing side file again, and two groups of processes would then hold the same locks. So the processes with the old file end their holds
 * first.
 * @throws {QueueLockError} `UNAVAILABLE` when a process did not respond
 */
export async function checkWithOtherProcesses(file: string): Promise<void> {
  const parts = [file, `${file}-wal`, `${file}-shm`].map((path) => statSync(path, { throwIfNoEntry: false }));
  if (parts[0]?.size !== 0 && parts.every((part) => part !== undefined)) return;
  await Promise.all(inboxesOf(file).map((inbox) => inquire(file, inbox)));
  removeStaleIndex(file);
}

/**
 * Removes an index without its log. It belongs to processes that have ended or have just closed the file, and SQLite would read the new log
 * with it.
 */
function removeStaleIndex(file: string): void {
  if (!statSync(`${file}-wal`, { throwIfNoEntry: false })) rmSync(`${file}-shm`, { force: true });
}

function inboxesOf(file: string): readonly string[] {
  const folder = inboxFolderOf(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => isInboxOf(file, path));
}

/** Resolves when the process has responded, or has closed its inbox, which it does before it closes the file. */
function inquire(file: string, inbox: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(inbox, () => socket.write(`${INQUIRY}\n`));
    const timer = setTimeout(() => {
      const message = `a part of ${file} was removed, and a process that uses it (inbox ${inbox}) did not respond within ${TIMEOUT_MS} ms; end that process`;
      reject(new QueueLockError('UNAVAILABLE', message));
      socket.destroy();
    }, TIMEOUT_MS);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      if (text.includes(INQUIRY_REPLY)) socket.destroy();
    });
    // The close event follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
