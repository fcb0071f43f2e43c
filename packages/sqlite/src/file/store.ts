// Folder "file": opens the lock file, and runs each step as one transaction.
// store.ts (this file) runs all steps, one after another. file.ts and opening.ts check and open the file.

import { connectionClosed, type Clock } from '@queuelock/core/backend';
import { Checkpoints } from './checkpoints.ts';
import { Entries } from '../queue/entries.ts';
import { asQueueLockError, fileMissing, isBusy } from '../driver/errors.ts';
import { identityOf, isSameFile } from './identity.ts';
import { Lane } from './lane.ts';
import type { OpenFile } from './opening.ts';
import { RegisterTable } from '../queue/registers.ts';
import { Sessions } from '../queue/sessions.ts';
import { TraceTable } from '../queue/traces.ts';
import { Views } from '../queue/views.ts';

/** A notification for an inbox: the entry with the order number `ord` was admitted or removed. */
export interface EntryNotification {
  readonly inbox: string;
  readonly ord: number;
}

interface StoreSettings {
  readonly clock: Clock;
  /**
   * Called after each committed step with the notifications to send. Notifications about ended sessions come
   * first.
   */
  readonly onStep: (notifications: readonly EntryNotification[]) => void;
}

/** The tables of an open file, with the transactions that change them. */
export class Store {
  readonly file: OpenFile;
  readonly sessions: Sessions;
  readonly entries: Entries;
  readonly traces: TraceTable;
  readonly registers: RegisterTable;
  readonly views: Views;
  readonly #lane: Lane;
  readonly #checkpoints: Checkpoints;
  #notifications: EntryNotification[] = [];
  /** Why the store ended: it was closed, or its file was removed. `undefined` while it is open. */
  #ended: 'closed' | 'gone' | undefined;
  #isClosed = false;

  constructor(file: OpenFile, { clock, onStep }: StoreSettings) {
    const { db, path } = file;
    this.file = file;
    this.sessions = new Sessions(db);
    this.entries = new Entries(db, (session, ord) => {
      const home = this.sessions.home(session);
      if (home) this.#notifications.push({ inbox: home.inbox, ord });
    });
    this.traces = new TraceTable(db);
    this.registers = new RegisterTable(db);
    this.views = new Views(db);
    this.#checkpoints = new Checkpoints(db, path, () => this.fileExists());
    this.#lane = new Lane(db, {
      file: path,
      clock,
      onCommit: () => {
        onStep(this.#takeNotifications());
        this.#checkpoints.count();
      },
      onRollback: () => this.#takeNotifications(),
    });
  }

  /** Whether the store has ended, because it was closed or its file was removed. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** Whether the store has ended because its file was removed or replaced. */
  get isFileLost(): boolean {
    return this.#ended === 'gone';
  }

  /** Returns whether the file still exists and the store is open. */
  fileExists(): boolean {
    if (this.#ended === undefined && !this.#isSameFile()) this.#ended = 'gone';
    return this.#ended === undefined;
  }

  /** Runs a step in a transaction. Sessions whose lease has expired are ended before it. */
  async write<T>(run: () => T): Promise<T> {
    if (this.#ended) throw this.#endError();
    return this.#lane.write(() => {
      this.requireFile();
      for (const num of this.sessions.expired()) this.end(num);
      return run();
    });
  }

  /** Runs a read at once, without a transaction. If the file is locked, the read runs after the earlier steps of this process. */
  async read<T>(run: () => T): Promise<T> {
    if (this.#ended) throw this.#endError();
    try {
      return run();
    } catch (error) {
      if (!isBusy(error)) throw asQueueLockError(error, this.file.path);
      return this.#lane.write(run);
    }
  }

  /** Removes a session and all its entries. Must be called within a step. */
  end(num: number): void {
    this.entries.removeAllOf(num);
    this.sessions.delete(num);
  }

  /**
   * Checks that the file was neither removed nor replaced.
   * @throws {QueueLockError} `SESSION_LOST` otherwise, since other processes may use a new file
   */
  requireFile(): void {
    if (!this.fileExists()) throw this.#endError();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#lane.close();
    this.#checkpoints.close();
    this.#ended ??= 'closed';
    this.file.db.close();
  }

  #isSameFile(): boolean {
    const { path, identity } = this.file;
    return isSameFile(identity, identityOf(path));
  }

  #endError(): Error {
    return this.#ended === 'gone' ? fileMissing(this.file.path) : connectionClosed(this.file.path);
  }

  #takeNotifications(): readonly EntryNotification[] {
    const notifications = this.#notifications;
    if (notifications.length > 0) this.#notifications = [];
    return notifications;
  }
}
