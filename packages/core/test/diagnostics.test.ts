import { expect } from 'chai';
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import {
  CHANNELS,
  type AcquireMessage,
  type HandoverMessage,
  type HoldMessage,
  type LossMessage,
} from '../src/index.ts';
import { join, onStage, rejection, type Stage } from './stage.ts';

const PHASES = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

/** Records the messages of all channels in order while a test runs, each as text such as `acquire start`. */
class MessageLog {
  readonly events: string[] = [];
  readonly messages: unknown[] = [];
  readonly #forget: (() => void)[] = [];

  constructor(...kinds: readonly (keyof typeof CHANNELS)[]) {
    for (const kind of kinds) {
      const isTraced = kind === 'acquire' || kind === 'hold';
      if (!isTraced) this.#subscribe(CHANNELS[kind], kind);
      else
        for (const phase of PHASES) this.#subscribe(`tracing:${CHANNELS[kind]}:${phase}`, `${kind} ${phase}`);
    }
  }

  close(): void {
    for (const forget of this.#forget) forget();
  }

  #subscribe(name: string, what: string): void {
    const listener = (message: unknown): void => {
      this.events.push(what);
      if (!this.messages.includes(message)) this.messages.push(message);
    };
    subscribe(name, listener);
    this.#forget.push(() => unsubscribe(name, listener));
  }
}

const ALL = ['acquire', 'hold', 'loss', 'handover'] as const;
const START = ['acquire start', 'acquire end'];
const HELD = ['acquire asyncStart', 'acquire asyncEnd'];
const HOLD = ['hold start', 'hold end'];
const OVER = ['hold asyncStart', 'hold asyncEnd'];

const listening =
  (scene: (stage: Stage, log: MessageLog) => Promise<void>, kinds: typeof ALL = ALL) =>
  async () => {
    const log = new MessageLog(...kinds);
    try {
      await onStage((stage) => scene(stage, log));
    } finally {
      log.close();
    }
  };

describe('a subscriber of the diagnostics channels', () => {
  it(
    'receives one object for each acquisition and each hold, with its duration',
    listening(async (stage, { events, messages }) => {
      const hold = await stage.client().acquire('x');
      await stage.clock.advance(1_500);
      await stage.passing(hold.release());
      expect(events).to.deep.equal([...START, ...HELD, ...HOLD, ...OVER]);
      const [acquire, held, ...rest] = messages as [AcquireMessage, HoldMessage];
      expect(rest).to.deep.equal([]);
      const backend = { name: 'memory', endpoint: 'memory:' };
      const { id, order, token } = hold;
      const lock = { name: 'x', shared: false, permits: 1, id, order };
      expect(acquire).to.deep.include({ ...lock, waited: false, waitMs: 0, isTry: false, outcome: 'held' });
      expect(acquire.backend.name).to.equal(backend.name);
      expect(held).to.deep.include({ ...lock, token, heldMs: 1_500, outcome: 'released' });
      expect(held.acquire).to.equal(acquire);
    }),
  );

  it(
    'receives a hand-off message when a waiter is granted, with the duration of the wait',
    listening(async (stage, { events, messages }) => {
      const holder = await stage.client().acquire('x');
      const waiter = stage.client().acquire('x');
      await stage.clock.advance(700);
      await stage.passing(holder.release());
      const second = await stage.passing(waiter);
      expect(events.slice(-5)).to.deep.equal([...HELD, ...HOLD, 'handover']);
      const { hold, waitMs } = messages.at(-1) as HandoverMessage;
      expect([hold.token, hold.acquire.waited, waitMs]).to.deep.equal([second.token, true, 700]);
      await stage.passing(second.release());
    }),
  );

  it(
    'receives a loss immediately with the reason, and later the end of the hold',
    listening(async (stage, { events, messages }) => {
      const hold = await stage.client().acquire('x');
      stage.server.evict(hold.key);
      expect(hold.held).to.equal(false);
      await stage.settle();
      expect(events.slice(-4)).to.have.members(['loss', 'hold error', ...OVER]);
      const loss = messages.find(
        (message) => 'error' in (message as object) && !('acquire' in (message as object)),
      );
      expect(loss).to.deep.include({ name: 'x', token: hold.token });
      expect((loss as LossMessage).error).to.include({ code: 'OWNERSHIP_LOST', reason: 'entry-removed' });
      const held = messages.find((message) => 'heldMs' in (message as object)) as HoldMessage;
      expect([held.outcome, held.error]).to.deep.equal(['lost', (loss as LossMessage).error]);
    }),
  );

  it(
    'receives the error of a failed wait, of a try on a busy lock, and of a cancelled wait',
    listening(async (stage, { events, messages }) => {
      const holder = await stage.client().acquire('x');
      const client = stage.client();
      const reason = new Error('enough');
      const aborting = new AbortController();
      const aborted = rejection(client.acquire('x', { signal: aborting.signal }));
      await stage.settle();
      aborting.abort(reason);
      await stage.passing(aborted);
      await stage.passing(client.tryAcquire('x'));
      (await join(stage, client)).subscription.unsubscribe();
      await stage.passing(holder.release());
      const ends = messages
        .filter((message): message is AcquireMessage => 'isTry' in (message as object))
        .slice(1)
        .map(({ outcome, isTry, error }) => [
          outcome,
          isTry,
          (error as { code?: string } | undefined)?.code ?? error,
        ]);
      expect(ends).to.deep.equal([
        ['failed', false, reason],
        ['failed', true, 'TIMEOUT'],
        ['left', false, undefined],
      ]);
      expect(events.filter((what) => what === 'acquire error')).to.have.length(2);
      expect(events.filter((what) => what === 'acquire asyncEnd')).to.have.length(4);
    }),
  );

  it('receives a loss even if it subscribed after the grant', () =>
    onStage(async (stage) => {
      const hold = await stage.client().acquire('x');
      const log = new MessageLog(...ALL);
      stage.server.evict(hold.key);
      await stage.settle();
      log.close();
      expect(log.events).to.deep.equal(['loss']);
    }));

  it('can bind an AsyncLocalStorage whose value the backend reads during the acquisition', async () => {
    const store = new AsyncLocalStorage<AcquireMessage>();
    const { start } = tracingChannel<AcquireMessage, AcquireMessage>(CHANNELS.acquire);
    let seen: AcquireMessage | undefined;
    start.bindStore(store, (message) => message);
    try {
      await onStage(async (stage) => {
        const noting = stage.client({
          spoil: (backend) => ({
            ...backend,
            open: (...args) => {
              seen = store.getStore();
              return backend.open(...args);
            },
          }),
        });
        const hold = await noting.acquire('x');
        await stage.passing(hold.release());
      });
    } finally {
      start.unbindStore(store);
    }
    expect(seen?.name).to.equal('x');
  });

  it('does not disturb the acquisition when it throws', async () => {
    const thrown: unknown[] = [];
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const note = (error: unknown): void => void thrown.push(error);
    process.on('uncaughtException', note);
    const start = `tracing:${CHANNELS.acquire}:start`;
    const listener = (): never => {
      throw new Error('deaf');
    };
    subscribe(start, listener);
    try {
      await onStage(async (stage) => stage.passing((await stage.client().acquire('x')).release()));
    } finally {
      unsubscribe(start, listener);
      process.off('uncaughtException', note);
      for (const other of others) process.on('uncaughtException', other);
    }
    expect(thrown.map(String)).to.deep.equal(['Error: deaf']);
  });
});
