import { readdirSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { QueueLockError } from '@queuelock/core/backend';
import { INQUIRY_REPLY, INQUIRY, inboxFolderOf, isInboxOf } from './inbox.ts';

/** The timeout of a reply, in milliseconds. A process whose event loop is blocked replies late. */
const TIMEOUT_MS = 5_000;

/**
 * Called before the file is opened. If a side file is missing, requests each process that has the file open to check that its open files
 * are still those on disk. A process that still uses a deleted side file then ends its holds. Otherwise SQLite would create the side file
 * anew, and two groups of processes could hold the same lock.
 * @throws {QueueLockError} `UNAVAILABLE` when a process did not respond
 */
export async function checkWithOtherProcesses(file: string): Promise<void> {
  const parts = [file, `${file}-wal`, `${file}-shm`].map((path) => statSync(path, { throwIfNoEntry: false }));
  if (parts[0]?.size !== 0 && parts.every((part) => part !== undefined)) return;
  await Promise.all(inboxesOf(file).map((inbox) => inquire(file, inbox)));
  removeStaleIndex(file);
}

/**
 * Removes the index of the write-ahead log (`-shm`) when the log itself is missing. Processes that have closed the file left the index. SQLite would
 * otherwise use it for a new log, whose content it does not describe.
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

/**
 * Requests that one process compares its files with those on disk. Resolves when it has responded, or has closed its inbox. It closes the
 * inbox before it closes the file.
 */
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
    // After an error of the socket, its event `close` follows, and that resolves the promise.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
