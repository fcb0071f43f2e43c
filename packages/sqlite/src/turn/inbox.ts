import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { QueueLockError } from '@queuelock/core/backend';

// The maximum length of the path of a Unix socket, on the systems with the lowest limit.
const MAX_PATH_BYTES = 100;
const NAME_BYTES = 8;
const INBOX_NAME = new RegExp(`^[0-9a-f]{${2 * NAME_BYTES}}$`);
const TEMPORARY_FOLDER = /^queuelock-[A-Za-z0-9]{6}$/;
/** Minimum age in milliseconds at which an unused socket is removed. A younger one may belong to a process that is just starting. */
const MIN_AGE_MS = 10_000;
/** The maximum length of a message; no process sends a longer one. */
const MAX_MESSAGE_LENGTH = 32;
const MAX_TRIES = 3;

/** The message that requests another process to check its files, and the reply to it. Sent when the lock file or one of its side files is missing. */
export const INQUIRY = '?';
export const INQUIRY_REPLY = '!';

/** Called for each message that arrives on the inbox of this process. */
export interface InboxEvents {
  readonly onEntry: (ord: number) => void;
  readonly onInquiry: () => void;
}

/** A Unix socket on which other processes notify this process that its entries have changed. */
export interface Inbox {
  /** The path of the socket. The operating system closes the socket when the process ends, so other processes notice its end. */
  readonly path: string;
  close(): void;
}

/**
 * Opens an inbox in a directory that is private to this user. Creates the directory, and removes the sockets of ended processes from it.
 */
export async function openInbox(file: string, events: InboxEvents): Promise<Inbox> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    receive(socket, events);
  });
  const path = await listenIn(server, file, 0);
  removeUnusedSockets(dirname(path), path);
  return {
    path,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      removeDirectory(dirname(path));
    },
  };
}

/**
 * Removes the socket file of a process that has ended. The path comes from the lock file, to which other programs may write. So nothing is removed
 * unless the path is that of an inbox of this lock file.
 */
export function removeInbox(file: string, path: string): void {
  if (!isInboxOf(file, path)) return;
  remove(path);
  removeDirectory(dirname(path));
}

/**
 * Checks a path that was read from the lock file, to which other programs may write.
 * @returns whether the path is a socket with the name of an inbox, in the private inbox folder of this lock file
 */
export function isInboxOf(file: string, path: string): boolean {
  const folder = dirname(path);
  if (path !== join(folder, basename(path)) || !INBOX_NAME.test(basename(path))) return false;
  const isTemporary = dirname(folder) === tmpdir() && TEMPORARY_FOLDER.test(basename(folder));
  if (folder !== inboxFolderOf(file) && !isTemporary) return false;
  return isPrivateFolder(folder) && isOwnSocket(path);
}

function isPrivateFolder(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && isOwn(found) && (found.mode & 0o077) === 0;
}

function isOwnSocket(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.isSocket() && isOwn(found);
}

function isOwn({ uid }: { readonly uid: number }): boolean {
  return uid === (process.geteuid?.() ?? uid);
}

/** Creates the socket. Retries if another process, on closing, removes the empty directory at that moment. */
async function listenIn(server: Server, file: string, tries: number): Promise<string> {
  const path = join(directoryFor(file), randomBytes(NAME_BYTES).toString('hex'));
  try {
    await listen(server, path);
    return path;
  } catch (error) {
    if (tries === MAX_TRIES) throw error;
    return listenIn(server, file, tries + 1);
  }
}

/** Returns the folder beside a lock file that contains the inboxes of all processes. */
export function inboxFolderOf(file: string): string {
  return `${file}-inbox`;
}

/**
 * Returns the directory for inboxes. It is beside the lock file, so containers that share the file share the directory, too. If that path
 * is too long for a socket, a new temporary directory is used instead.
 */
function directoryFor(file: string): string {
  const beside = inboxFolderOf(file);
  if (Buffer.byteLength(beside) + 2 * NAME_BYTES + 1 > MAX_PATH_BYTES)
    return mkdtempSync(join(tmpdir(), 'queuelock-'));
  mkdirSync(beside, { mode: 0o700, recursive: true });
  const found = lstatSync(beside);
  if (!found.isDirectory() || !isOwn(found)) {
    throw new QueueLockError('ACCESS_DENIED', `${beside} is not a directory of this user: remove it`);
  }
  if ((found.mode & 0o077) !== 0) chmodSync(beside, 0o700);
  return beside;
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refused = (cause: Error): void => {
      reject(
        new QueueLockError('UNAVAILABLE', `no inbox can be opened at ${path}: ${cause.message}`, { cause }),
      );
    };
    server.once('error', refused);
    server.listen(path, () => {
      server.off('error', refused);
      // Errors of the socket are ignored. If a connection fails, the other process retries, and this process
      // polls the file anyway.
      server.on('error', () => undefined);
      resolve();
    });
  });
}

function receive(socket: Socket, { onEntry, onInquiry }: InboxEvents): void {
  let rest = '';
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_MESSAGE_LENGTH);
    for (const line of lines) {
      if (/^\d{1,16}$/.test(line)) onEntry(Number(line));
      else if (line === INQUIRY) {
        onInquiry();
        socket.write(INQUIRY_REPLY);
      }
    }
  });
  // If the connection of another process to this inbox fails, notifications are lost. This process then finds
  // the changes by polling the file.
  socket.on('error', () => undefined);
}

/**
 * Removes the sockets of processes that have ended. The age of a socket is the time from the last
 * modification of its file to that of this process's socket `own`.
 */
function removeUnusedSockets(directory: string, own: string): void {
  const now = statSync(own).mtimeMs;
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const age = now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now);
    if (path === own || age < MIN_AGE_MS || !INBOX_NAME.test(name) || !isOwnSocket(path)) continue;
    const probe = connect(path);
    probe.on('connect', () => probe.destroy());
    probe.on('error', (error) => {
      if ('code' in error && error.code === 'ECONNREFUSED') remove(path);
    });
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // If the removal fails, another process has already removed the socket.
  }
}

function removeDirectory(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // The removal fails while the directory is not empty: other processes have their inboxes in it.
  }
}
