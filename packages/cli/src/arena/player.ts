import type { Contenders } from '@queuelock/bridge';
import { QueueLockError, type QueueEntry } from '@queuelock/core';
import type { ContendEvent } from '../contend/event.ts';
import type { Report } from '../contend/parent.ts';
import { ContenderProcess, type ContenderSettings } from '../demo/contender-process.ts';
import type { SeenEvent } from '../demo/history.ts';
import { millisOf } from '../stamp.ts';
import type { ArenaEvent, Disturbance } from './events.ts';
import { freeze } from './freeze.ts';
import { Pace } from './pace.ts';
import { ContenderState, type PlayerSnapshot } from './contender-state.ts';
import { openContenderProxy, type ContenderProxy } from './contender-proxy.ts';

/** The actions that a visitor of the demo page may apply to one contender. */
type PlayerAct = Exclude<Parameters<Contenders['act']>[0]['act'], 'add'>;

/** Settings of a contender on the demo page. */
export interface PlayerSettings extends Omit<ContenderSettings, 'part' | 'emit' | 'onReport'> {
  readonly id: string;
  /**
   * What cuts the contender's connection to the store: a proxy, or the contender itself. `undefined` if it
   * cannot be cut.
   */
  readonly cutBy: 'proxy' | 'inside' | undefined;
  readonly seesDeaths: boolean;
  /**
   * Resolves with whether other processes can use the store. They cannot while a suspended process locks the
   * file of a SQLite store.
   */
  readonly isFree: () => Promise<boolean>;
  readonly emit: (event: ArenaEvent) => void;
  readonly onChange: () => void;
}

/** Hold time in milliseconds. It is long enough for a visitor to see the hold and press a button. */
const HOLD_MS = 2_500;
/**
 * Number of rounds (join, hold and release), and hold time in milliseconds, with which the contender's
 * process is started. Both are so large that the process never reaches them. It holds until it is ordered to
 * release, so it keeps its hold while it is frozen or cut off.
 */
const SCRIPT = { rounds: 1_000_000, holdMs: 3_600_000 };
// Minimum growth of the proven time, in milliseconds, that triggers a new snapshot for the page. Every
// heartbeat extends the proven time a little, which needs no new snapshot.
const BUDGET_STEP_MS = 200;

/** A contender on the demo page, which visitors may freeze, cut off or kill. */
export class Player {
  readonly id: string;
  readonly #settings: PlayerSettings;
  readonly #process: ContenderProcess;
  readonly #proxy: ContenderProxy | undefined;
  readonly #state = new ContenderState();
  readonly #pace = new Pace(() => this.#release());
  #thaw: Promise<() => Promise<void>> | undefined;
  #isCut = false;
  #end: string | undefined;
  #shownUntil = 0;

  static async enter(settings: PlayerSettings): Promise<Player> {
    const proxy = settings.cutBy === 'proxy' ? await openContenderProxy(settings.url) : undefined;
    return new Player(settings, proxy);
  }

  private constructor(settings: PlayerSettings, way: ContenderProxy | undefined) {
    this.id = settings.id;
    this.#settings = settings;
    this.#proxy = way;
    this.#process = new ContenderProcess({
      ...settings,
      part: { id: settings.id, ...SCRIPT },
      url: way?.url ?? settings.url,
      secret: way?.secret,
      emit: (event) => {
        this.#follow(event);
      },
      onReport: (report) => {
        this.#onReport(report);
      },
    });
    void this.#process.ended.then(() => this.#onEnd());
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  get snapshot(): PlayerSnapshot {
    const until = this.#provenUntilMs;
    const own = { id: this.id, pid: this.pid, isFrozen: this.#thaw !== undefined, isCut: this.#isCut };
    if (this.#end !== undefined) return { ...own, status: 'gone', end: this.#end };
    const { status, entry } = this.#state;
    return { ...own, status, ...entry, ...(until === undefined ? {} : { provenUntil: until }) };
  }

  /** Updates the contender's state from the entries of the queue. */
  update(entries: readonly QueueEntry[]): void {
    const isDeaf = this.#isStill || this.hasEnded;
    if (this.#state.update(entries, isDeaf)) this.#settings.emit(this.#seen('expired'));
  }

  /**
   * Applies a visitor's action to the contender.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when the action is not possible now
   */
  async act(act: PlayerAct): Promise<void> {
    if (this.hasEnded || this.#process.pid === undefined) throw refused(`${this.id} has ended`);
    await this.#acts[act]();
    this.#settings.onChange();
  }

  /** Ends the contender, with a normal release if possible. */
  async close(): Promise<void> {
    this.#pace.stop();
    this.#mend();
    const thawed = this.#letGo();
    await this.#process.close();
    await thawed;
    this.#proxy?.close();
  }

  readonly #acts: Record<PlayerAct, () => Promise<void> | void> = {
    release: () => {
      if (this.#state.status !== 'holds') throw refused(`${this.id} does not hold the lock`);
      if (!this.#release()) throw refused(`${this.id} is frozen or cut off`);
    },
    freeze: async () => {
      if (this.#thaw) throw refused(`${this.id} is frozen already`);
      this.#thaw = freeze(this.pid, this.#settings.isFree);
      await this.#thaw.catch((error: unknown) => {
        this.#thaw = undefined;
        throw error;
      });
      this.#disturbed('frozen', this.#process.provenUntil);
    },
    thaw: async () => {
      if (!this.#thaw) throw refused(`${this.id} is not frozen`);
      // Records the thaw before the contender runs again. So the stamp of the thaw is earlier than the stamps
      // of the contender's next events.
      this.#disturbed('thawed');
      await this.#letGo();
      this.#pace.retry();
    },
    cut: () => {
      if (this.#settings.cutBy === undefined) throw refused('contenders cannot be cut off here');
      if (this.#isCut) throw refused(`${this.id} is cut off already`);
      if (this.#thaw && !this.#proxy) throw refused(`${this.id} is frozen: thaw it first`);
      this.#isCut = true;
      if (this.#proxy) this.#proxy.cut();
      else this.#process.order('cut');
      this.#disturbed('cut', this.#process.provenUntil);
    },
    mend: () => {
      if (!this.#isCut) throw refused(`${this.id} is not cut off`);
      this.#disturbed('mended');
      this.#mend();
      this.#pace.retry();
    },
    kill: () => {
      this.#end = 'killed';
      const until = this.#settings.seesDeaths ? undefined : this.#process.provenUntil;
      this.#settings.emit({ ...this.#seen('crashed'), ...(until === undefined ? {} : { until }) });
      this.#process.crash();
    },
  };

  /** Whether the contender is frozen or cut off from the store. It must not be ordered to release then. */
  get #isStill(): boolean {
    return this.#thaw !== undefined || this.#isCut;
  }

  get #provenUntilMs(): number | undefined {
    const until = this.#process.provenUntil;
    return until === undefined ? undefined : millisOf(until);
  }

  #follow(event: ContendEvent): void {
    if (event.ev === 'acquired') this.#pace.begin(HOLD_MS);
    else this.#pace.stop();
    this.#state.follow(event);
    this.#settings.emit(event);
  }

  #onReport(report: Report): void {
    if (report.kind === 'notified') {
      this.#settings.emit({ t: report.t, id: this.id, ev: 'notified', admitted: report.admitted });
      return;
    }
    const until = this.#provenUntilMs ?? 0;
    if (Math.abs(until - this.#shownUntil) < BUDGET_STEP_MS) return;
    this.#shownUntil = until;
    this.#settings.onChange();
  }

  /** Orders the contender to release. Returns whether the contender can receive the order. */
  #release(): boolean {
    if (!this.#isStill) this.#process.order('release');
    return !this.#isStill;
  }

  #mend(): void {
    if (!this.#isCut) return;
    this.#isCut = false;
    if (this.#proxy) this.#proxy.mend();
    else this.#process.order('mend');
  }

  async #letGo(): Promise<void> {
    const thaw = this.#thaw;
    this.#thaw = undefined;
    await (
      await thaw
    )?.();
  }

  async #onEnd(): Promise<void> {
    const { last } = this.#state;
    this.#end ??= last?.ev === 'error' ? (last.message ?? 'failed') : 'ended';
    this.#pace.stop();
    this.#isCut = false;
    this.#proxy?.close();
    await this.#letGo();
    this.#settings.onChange();
  }

  #disturbed(ev: Disturbance['ev'], until?: string): void {
    const { stamp, emit } = this.#settings;
    emit({ t: stamp(), id: this.id, ev, ...(until === undefined ? {} : { until }) });
  }

  #seen(ev: SeenEvent['ev']): SeenEvent {
    const { stamp, name } = this.#settings;
    const { key, token, zxid, n = 0 } = this.#state.last ?? {};
    const entry = { ...(key && { key }), ...(token && { token }), ...(zxid && { zxid }) };
    return { t: stamp(), id: this.id, ev, name, ...entry, n };
  }
}

function refused(why: string): QueueLockError {
  return new QueueLockError('INVALID_ARGUMENT', why);
}
