// Chapter file: how is the file opened, and how does one step change it?
// All steps (here), each a transaction, one after the other (lane), in a file that is fit for it (file, opening).

import { connectionClosed, type Clock } from '@queuelock/core/backend';
import { Checkpoints } from './checkpoints.ts';
import { Entries } from '../queue/entries.ts';
import { asQueueLockError, fileGone, isBusy } from '../driver/errors.ts';
import { identityOf, isSameFile } from './identity.ts';
import { Lane } from './lane.ts';
import type { OpenFile } from './opening.ts';
import { RegisterTable } from '../queue/registers.ts';
import { Sessions } from '../queue/sessions.ts';
import { TraceTable } from '../queue/traces.ts';
import { Views } from '../queue/views.ts';

/** Somebody has to look at an entry: its turn has come, or it is gone. */
export interface News {
  readonly inbox: string;
  readonly ord: number;
}

interface StoreSettings {
  readonly clock: Clock;
  /** After each step that has taken effect, with what it has to tell, the dead first. */
  readonly onStep: (news: readonly News[]) => void;
}

/** The tables of an open file, and the steps that change them. */
export class Store {
  readonly file: OpenFile;
  readonly sessions: Sessions;
  readonly entries: Entries;
  readonly traces: TraceTable;
  readonly registers: RegisterTable;
  readonly views: Views;
  readonly #lane: Lane;
  readonly #checkpoints: Checkpoints;
  #news: News[] = [];
  /** What came first. */
  #ended: 'closed' | 'gone' | undefined;
  #isClosed = false;

  constructor(file: OpenFile, { clock, onStep }: StoreSettings) {
    const { db, path } = file;
    this.file = file;
    this.sessions = new Sessions(db);
    this.entries = new Entries(db, (session, ord) => {
      const home = this.sessions.home(session);
      if (home) this.#news.push({ inbox: home.inbox, ord });
    });
    this.traces = new TraceTable(db);
    this.registers = new RegisterTable(db);
    this.views = new Views(db);
    this.#checkpoints = new Checkpoints(db, path, () => this.isThere());
    this.#lane = new Lane(db, {
      file: path,
      clock,
      onCommit: () => {
        onStep(this.#takeNews());
        this.#checkpoints.count();
      },
      onRollback: () => this.#takeNews(),
    });
  }

  /** It was closed, or its file is not there any more. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** Its file is not there any more, as somebody has seen. */
  get isGone(): boolean {
    return this.#ended === 'gone';
  }

  /** Looks whether its file is still there, and it was not closed. */
  isThere(): boolean {
    if (this.#ended === undefined && !this.#isSameFile()) this.#ended = 'gone';
    return this.#ended === undefined;
  }

  /** Takes a step, atomic and alone. Sessions whose lease is over end before it. */
  async write<T>(take: () => T): Promise<T> {
    if (this.#ended) throw this.#endError();
    return this.#lane.write(() => {
      this.requireFile();
      for (const num of this.sessions.expired()) this.end(num);
      return take();
    });
  }

  /** Reads at once; only while the file is busy it stands in line with the steps. */
  async read<T>(take: () => T): Promise<T> {
    if (this.#ended) throw this.#endError();
    try {
      return take();
    } catch (error) {
      if (!isBusy(error)) throw asQueueLockError(error, this.file.path);
      return this.#lane.write(take);
    }
  }

  /** Ends a session with all its entries, within a step. */
  end(num: number): void {
    this.entries.removeAllOf(num);
    this.sessions.delete(num);
  }

  /** @throws {QueueLockError} `SESSION_LOST` when another file is there, or none: others may have begun anew. */
  requireFile(): void {
    if (!this.isThere()) throw this.#endError();
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
    return this.#ended === 'gone' ? fileGone(this.file.path) : connectionClosed(this.file.path);
  }

  #takeNews(): readonly News[] {
    const news = this.#news;
    if (news.length > 0) this.#news = [];
    return news;
  }
}
