import type { Observed } from '@queuelock/bridge/client';
import type {
  BridgeFacts,
  EntrySnapshot,
  EntryRef,
  Snapshot,
  QueueSnapshot,
  QueuesSnapshot,
} from '@queuelock/bridge/wire';
import { BridgeProvider } from '@queuelock/react';
import { expect } from 'chai';
import { StrictMode } from 'react';
import { FakeBridge, LIVE } from '../../react/test/fake-bridge.ts';
import { openPage, type Page } from '../../react/test/page.ts';
import type { App as PageApp } from '../src/page/app.tsx';

const FACTS: BridgeFacts = {
  version: 2,
  epoch: 'e',
  token: 't',
  storeLabel: 'memory:test',
  may: { evict: true, ask: true, join: true },
};
const HOSTILE = '<img src=x onerror=alert(1)>\u202Egnp.exe';
const SHOWN_HOSTILE = '<img src=x onerror=alert(1)>\\u{202e}gnp.exe';

function entryOf(owner: string, position: number, more: Partial<EntrySnapshot> = {}): EntrySnapshot {
  return {
    key: `k${String(position)}`,
    order: String(position + 1),
    owner,
    shared: false,
    metadata: {},
    permits: 1,
    limit: 1,
    holds: [],
    position,
    seenAt: 0,
    ...(position === 0 ? { heldAt: 0, token: '41' } : {}),
    ...more,
  };
}

function queueOf(
  name: string,
  entries: readonly EntrySnapshot[],
  more: Partial<QueueSnapshot> = {},
): QueueSnapshot {
  return { name, at: 0, status: 'live', entries, evictions: [], handOffs: 0, ...more };
}

function queuesOf(names: readonly string[]): QueuesSnapshot {
  const queues = names.map((name) => ({ name, depth: 1, front: '1', departures: 0, frontAt: 0 }));
  return { at: 0, status: 'live', prefix: '', queues, count: queues.length };
}

describe('the dashboard page', () => {
  let page: Page;
  let bridge: FakeBridge;
  let evicted: { name: string; entry: EntryRef; reason: string }[];
  let App: typeof PageApp;

  before(async () => {
    page = await openPage([
      'HTMLDialogElement',
      'ResizeObserver',
      'addEventListener',
      'removeEventListener',
      'dispatchEvent',
      'matchMedia',
      'localStorage',
      'innerHeight',
      'scrollY',
      'requestAnimationFrame',
      'cancelAnimationFrame',
    ]);
    ({ App } = await import('../src/page/app.tsx'));
  });

  after(() => page.close());

  beforeEach(() => {
    bridge = new FakeBridge();
    evicted = [];
    localStorage.clear();
  });

  afterEach(() => {
    page.testing.cleanup();
  });

  async function open(hash: string, facts: BridgeFacts = FACTS): Promise<HTMLElement> {
    location.hash = hash;
    bridge.facts = async () => facts;
    bridge.tokenOf = async () => '99';
    bridge.evict = async (name, entry, { reason }) => {
      evicted.push({ name, entry, reason });
      return true;
    };
    bridge.connect(LIVE);
    const { container } = page.testing.render(
      <StrictMode>
        <BridgeProvider client={bridge}>
          <App />
        </BridgeProvider>
      </StrictMode>,
    );
    await page.testing.act(async () => undefined);
    return container;
  }
  const say = (
    kind: string,
    subject: string,
    snapshot: Snapshot | undefined,
    more: Partial<Observed<Snapshot>> = {},
  ): void => {
    page.testing.act(() => {
      bridge.say(kind, subject, { ...LIVE, ...more, snapshot });
    });
  };
  const press = (element: Element): void => {
    page.testing.fireEvent.click(element);
  };
  const key = (name: string, element: Element | Document = document): void => {
    page.testing.fireEvent.keyDown(element, { key: name });
  };
  const text = (selector: string): string => document.querySelector(selector)?.textContent ?? '';
  const rows = (): HTMLElement[] => page.screen.getAllByRole('row').slice(1);

  describe('in the list of queues', () => {
    it('shows that it is connecting before the first snapshot', async () => {
      await open('#/queues');
      expect(text('.notice')).to.equal('Connecting.');
      expect(document.querySelector('.table')).to.equal(null);
    });

    it('shows each queue and the totals', async () => {
      await open('#/queues');
      say('queues', '', queuesOf(['a', 'b']));
      expect(rows().map((row) => row.querySelector('a')?.textContent)).to.deep.equal(['a', 'b']);
      expect(document.querySelector('.notice')).to.equal(null);
      expect(document.activeElement?.textContent).to.equal('Queues');
    });

    it('shows a notice when there is no queue, and when no name matches the search', async () => {
      await open('#/queues');
      say('queues', '', queuesOf([]));
      expect(text('.empty-title')).to.equal('No queue is in use');
      say('queues', '', queuesOf(['a']));
      page.testing.fireEvent.change(page.screen.getByRole('searchbox'), { target: { value: 'x' } });
      expect(text('.empty-title')).to.equal('No queue name contains this text');
    });

    it('shows the age of outdated data, and that the page reconnects', async () => {
      await open('#/queues');
      say('queues', '', queuesOf(['a']));
      say('queues', '', queuesOf(['a']), { connection: 'stale', since: Date.now() - 12_000 });
      expect(text('.notice')).to.match(
        /does not respond\. Last data (?:1[1-9]|[2-5]\d)s ago; reconnecting\./,
      );
      expect(rows()).to.have.lengthOf(1);
      say('queues', '', queuesOf(['a']));
      expect(document.querySelector('.notice')).to.equal(null);
    });

    it('renders only a few of ten thousand rows, and counts them all', async () => {
      const names = Array.from({ length: 10_000 }, (_one, at) => `queue-${String(at).padStart(5, '0')}`);
      await open('#/queues');
      say('queues', '', queuesOf(names));
      expect(page.screen.getByRole('table').getAttribute('aria-rowcount')).to.equal('10001');
      expect(rows().length).to.be.within(5, 60);
      expect(rows()[0]!.getAttribute('aria-rowindex')).to.equal('2');
    });

    it('moves the focus between queues with the arrow and End keys', async () => {
      await open('#/queues');
      say('queues', '', queuesOf(['a', 'b', 'c']));
      const links = page.screen.getAllByRole('link').filter(({ className }) => className === 'name');
      page.testing.act(() => {
        links[0]!.focus();
      });
      key('ArrowDown', links[0]);
      expect(document.activeElement?.textContent).to.equal('b');
      key('End', document.activeElement!);
      expect(document.activeElement?.textContent).to.equal('c');
    });

    it('sorts by a clicked column title, which then shows the order', async () => {
      await open('#/queues');
      say('queues', '', queuesOf(['a', 'b']));
      press(page.screen.getByRole('button', { name: 'Queue' }));
      press(page.screen.getByRole('button', { name: /^Queue/ }));
      expect(rows().map((row) => row.querySelector('a')?.textContent)).to.deep.equal(['b', 'a']);
      const title = page.screen.getByRole('columnheader', { name: /^Queue/ });
      expect(title.getAttribute('aria-sort')).to.equal('descending');
    });
  });

  describe('in the view of one queue', () => {
    it('shows holders with tokens, and waiters in order', async () => {
      await open('#/queue/a');
      say('queue', 'a', queueOf('a', [entryOf('ann', 0), entryOf('bob', 1, { expectedWaitMs: 40_000 })]));
      expect(text('.holder')).to.contain('ann').and.to.contain('41');
      expect(rows().map((row) => row.textContent)).to.have.lengthOf(1);
      expect(rows()[0]!.textContent).to.contain('bob').and.to.contain('~40s');
    });

    it('shows hostile text as text, with hidden characters escaped', async () => {
      const container = await open(`#/queue/${encodeURIComponent(HOSTILE)}`);
      const hostile = { owner: HOSTILE, metadata: { [HOSTILE]: HOSTILE } };
      say('queue', HOSTILE, queueOf(HOSTILE, [entryOf('', 0, hostile), entryOf('', 1, hostile)]));
      expect(container.querySelector('img')).to.equal(null);
      expect(text('h1')).to.equal(SHOWN_HOSTILE);
      expect(text('.holder .owner')).to.equal(SHOWN_HOSTILE);
      expect(container.textContent).not.to.contain('\u202E');
    });

    it('renders only a few of five thousand waiters', async () => {
      await open('#/queue/a');
      const entries = Array.from({ length: 5_001 }, (_one, at) => entryOf(`w${String(at)}`, at));
      say('queue', 'a', queueOf('a', entries));
      expect(page.screen.getByRole('table').getAttribute('aria-rowcount')).to.equal('5001');
      expect(rows().length).to.be.within(5, 60);
    });

    it('shows no proven time while the data is not live', async () => {
      await open('#/queue/a');
      const snapshot = queueOf('a', [entryOf('ann', 0, { remainingMs: 5_000 })]);
      say('queue', 'a', snapshot);
      expect(text('.meter')).to.contain('5.0s proven');
      say('queue', 'a', snapshot, { connection: 'stale', since: 0 });
      expect(text('.meter')).to.contain('unknown');
    });

    it('draws holds and waits, and describes the drawing in words', async () => {
      await open('#/queue/a');
      say('queue', 'a', queueOf('a', [entryOf('ann', 0)]));
      const spans = [
        {
          key: 'k',
          order: '1',
          owner: 'ann',
          shared: false,
          joinedAt: -9_000,
          heldAt: -5_000,
          leftAt: -1_000,
        },
        { key: 'k', order: '2', owner: 'bob', shared: false, joinedAt: -8_000, heldAt: -1_000 },
      ];
      say('timeline', 'a', {
        name: 'a',
        at: 0,
        status: 'live',
        beganAt: -9_000,
        spans,
        gaps: [],
      } as Snapshot);
      expect(document.querySelectorAll('.stay .hold')).to.have.lengthOf(2);
      expect(page.screen.getByRole('img').textContent).to.contain(
        '2 stays, 1 still in the queue, 1 hand-off',
      );
    });

    it('lists recorded holds, the newest first, with how each ended', async () => {
      await open('#/queue/a');
      say('queue', 'a', queueOf('a', []));
      const hold = { host: 'h', pid: 7, beganAt: 0 };
      const holds = [
        { ...hold, id: '1', token: '41', owner: 'ann', status: 'ended', reason: 'released', heldMs: 4_200 },
        { ...hold, id: '2', token: '42', owner: HOSTILE, status: 'unrecorded', endedAtLatest: 0 },
        { ...hold, id: '3', token: '43', owner: 'cy', status: 'ended', reason: 'entry-removed', heldMs: 1 },
        { ...hold, id: '4', token: '44', owner: 'dee', status: 'held' },
      ];
      const eviction = { by: 'olga', reason: 'hangs' };
      const shown = [...holds.slice(0, 2), { ...holds[2], eviction }, holds[3]];
      say('record', 'a', { name: 'a', at: 0, status: 'live', holds: shown } as Snapshot);
      const table = page.screen.getByRole('table', { name: 'Recorded holds, the newest first' });
      const rows = page.testing.within(table).getAllByRole('row').slice(1);
      const cellsOf = (row: Element): readonly (string | null)[] =>
        [...row.querySelectorAll('.cell-owner, .cell-length, .cell-end')].map(
          ({ textContent }) => textContent,
        );
      expect(
        rows.map(cellsOf).map(([length, owner, end]) => `${owner} ${length} ${end}`.slice(0, 60)),
      ).to.deep.equal([
        'dee - holds',
        'cy 1ms removed by olga: hangs',
        `${SHOWN_HOSTILE} - no end recorded, gone by 1970`.slice(0, 60),
        'ann 4.2s released',
      ]);
    });

    it('evicts the shown entry only after the user has entered a reason', async () => {
      await open('#/queue/a');
      say('queue', 'a', queueOf('a', [entryOf('ann', 0), entryOf('bob', 1)]));
      press(page.screen.getByRole('button', { name: 'Evict bob, position 1…' }));
      say('queue', 'a', queueOf('a', [entryOf('bob', 0)]));
      const dialog = page.testing.within(page.screen.getByRole('dialog'));
      await dialog.findByText('99');
      const confirm = dialog.getByRole('button', { name: 'Evict bob' });
      expect((confirm as HTMLButtonElement).disabled).to.equal(true);
      page.testing.fireEvent.change(dialog.getByRole('textbox'), { target: { value: ' stuck ' } });
      press(confirm);
      await page.screen.findByText(/bob was removed from a/);
      expect(evicted).to.deep.equal([
        { name: 'a', entry: { key: 'k1', order: '2', owner: 'bob' }, reason: 'stuck' },
      ]);
    });

    it('shows only the actions that are permitted', async () => {
      await open('#/queue/a', { ...FACTS, may: { evict: false, ask: false, join: false } });
      say('queue', 'a', queueOf('a', [entryOf('ann', 0), entryOf('bob', 1)]));
      expect(page.screen.queryByRole('button', { name: /Evict|Ask|Take/ })).to.equal(null);
    });

    it("lets the user join the queue, shows the user's position, and lets the user leave", async () => {
      await open('#/queue/a');
      say('queue', 'a', queueOf('a', [entryOf('ann', 0)]));
      const { screen, testing } = page;
      const { act } = testing;
      page.testing.fireEvent.change(screen.getByLabelText('Your name, shown to all users'), {
        target: { value: 'Eve' },
      });
      press(screen.getByRole('button', { name: 'Join the queue' }));
      expect(bridge.joins[0]!.options).to.deep.equal({ owner: 'Eve', mode: 'exclusive' });
      act(() => {
        const place = { id: 'i', token: '50', position: 2, expectedWaitMs: 40_000, at: 0, answer: undefined };
        bridge.joins[0]!.say({ ...LIVE, status: 'queued', ...place });
      });
      expect(text('.join')).to.contain('You are 2nd').and.to.contain('about 40s').and.to.contain('50');
      press(screen.getByRole('button', { name: 'Leave the queue' }));
      expect(bridge.joins[0]!.hasLeft).to.equal(true);
    });

    it("marks the user's own entry, and does not leave the queue while no snapshot is available", async () => {
      await open('#/queue/a');
      const snapshot = queueOf('a', [entryOf('ann', 0), entryOf('eve', 1, { id: 'i' })]);
      say('queue', 'a', snapshot);
      press(page.screen.getByRole('button', { name: 'Join the queue' }));
      page.testing.act(() => {
        const place = {
          id: 'i',
          token: '50',
          position: 1,
          expectedWaitMs: undefined,
          at: 0,
          answer: undefined,
        };
        bridge.joins[0]!.say({ ...LIVE, status: 'queued', ...place });
      });
      expect(text('.row.own')).to.contain('eve');
      say('queue', 'a', { at: 0, status: 'connecting' });
      expect(text('.join')).to.contain('You are next');
      say('queue', 'a', snapshot);
      expect([bridge.joins.length, bridge.joins[0]!.hasLeft]).to.deep.equal([1, false]);
    });

    it('leaves the queue that the user has joined when the user opens another view', async () => {
      await open('#/queue/a');
      say('queue', 'a', queueOf('a', []));
      press(page.screen.getByRole('button', { name: 'Join the queue' }));
      page.testing.act(() => {
        location.hash = '#/faults';
        dispatchEvent(new (window as unknown as { Event: typeof Event }).Event('hashchange'));
      });
      await page.testing.waitFor(() => {
        expect(bridge.joins[0]!.hasLeft).to.equal(true);
      });
    });

    it('announces the holder to screen readers', async () => {
      await open('#/queue/a');
      say('queue', 'a', queueOf('a', [entryOf('ann', 0)]));
      say('queue', 'a', queueOf('a', [entryOf('bob', 0)]));
      await page.testing.waitFor(() => {
        expect(page.screen.getByLabelText('Hand-offs').textContent).to.equal('bob holds now');
      });
    });
  });

  it("shows contenders, sends the user's actions on them to the bridge, and lists their events", async () => {
    const acts: object[] = [];
    bridge.contend = async (act) => {
      acts.push(act);
      if (act.act === 'kill') throw new Error('[INVALID_ARGUMENT] not this one.');
    };
    await open('#/contenders/q', { ...FACTS, contenders: 'q' });
    const contender = { pid: 7, isFrozen: false, isCut: false };
    say('contenders', 'q', {
      name: 'q',
      at: 0,
      status: 'live',
      maxContenders: 2,
      ttlMs: 3_000,
      canCut: true,
      cut: 'How it is cut.',
      contenders: [
        { ...contender, id: 'c1', status: 'holds', token: '41', provenUntil: 1_500 },
        { ...contender, id: HOSTILE, status: 'gone', end: 'killed' },
      ],
      happenings: [{ id: 1, at: 0, kind: 'grant', text: `${HOSTILE} holds` }],
    } as Snapshot);
    expect(text('.contenders')).to.contain('holds with token 41').and.to.contain('1.5s proven');
    expect(text('.happenings')).to.contain(`${SHOWN_HOSTILE} holds`);
    press(page.screen.getByRole('button', { name: 'Add a contender' }));
    press(page.screen.getByRole('button', { name: 'Freeze c1' }));
    press(page.screen.getByRole('button', { name: 'Kill c1' }));
    await page.screen.findByText('not this one');
    expect(acts).to.deep.equal([{ act: 'add' }, { act: 'freeze', id: 'c1' }, { act: 'kill', id: 'c1' }]);
    expect(page.screen.getByRole('link', { name: 'Contenders' }).getAttribute('aria-current')).to.equal(
      'page',
    );
  });

  it('opens the view of contenders by the keys `g` and `c` only if the bridge has contenders', async () => {
    await open('#/queues');
    expect(page.screen.queryByRole('link', { name: 'Contenders' })).to.equal(null);
    key('g');
    key('c');
    expect(location.hash).to.equal('#/queues');
    page.testing.cleanup();
    await open('#/queues', { ...FACTS, contenders: 'q' });
    key('g');
    key('c');
    expect(location.hash).to.equal('#/contenders/q');
  });

  it('draws and describes a deadlock', async () => {
    await open('#/deadlocks');
    const wait = (name: string, owner: string, other: string): object => ({
      name,
      entry: { key: owner, order: '1', owner },
      waitsFor: { key: other, order: '2', owner: other },
    });
    const deadlocks = [[wait('a', 'ann', 'bob'), wait('b', 'bob', 'ann')]];
    say('deadlocks', '', {
      at: 0,
      status: 'live',
      prefix: '',
      included: 2,
      departures: 0,
      deadlocks,
    } as Snapshot);
    expect(text('.ring title')).to.equal('ann waits for bob, bob waits for ann');
    expect(text('.waits')).to.equal('ann waits in a for bobbob waits in b for ann');
    expect(page.screen.getByRole('button', { name: 'Evict ann…' })).to.not.equal(null);
  });

  it("shows the leader of an election that the user entered, and stores the election's name", async () => {
    await open('#/elections');
    page.testing.fireEvent.change(page.screen.getByRole('textbox'), { target: { value: 'boss' } });
    press(page.screen.getByRole('button', { name: 'Show' }));
    const candidates = [{ value: '10.0.0.7:80', key: 'k', order: '1' }];
    say('election', 'boss', { name: 'boss', at: 0, status: 'live', candidates } as Snapshot);
    expect(text('.leader .owner')).to.equal('10.0.0.7:80');
    expect(localStorage.getItem('queuelock.elections')).to.equal('["boss"]');
  });

  it('shows the entries of a session', async () => {
    await open('#/sessions');
    const entries = [{ key: 'k', order: '1', owner: 'ann', name: 'a', position: 3 }];
    const sessions = [{ owner: 'ann', host: 'h', pid: 7, entries }];
    say('sessions', '', {
      at: 0,
      status: 'live',
      prefix: '',
      included: 1,
      departures: 0,
      sessions,
    } as Snapshot);
    press(page.screen.getByRole('button', { name: 'ann' }));
    expect(page.screen.getByRole('dialog').textContent).to.contain('waits at position 3');
  });

  it('lists the results of the diagnosis, errors first, and the faults that the bridge observed', async () => {
    await open('#/faults');
    const findings = [
      { level: 'ok', about: 's', text: 'ok' },
      { level: 'error', about: 'q', text: 'bad' },
    ];
    const faults = [{ at: 0, kind: 'store', about: 'etcd', text: 'could not be reached' }];
    say('faults', '', { at: 0, status: 'live', prefix: '', findings, faults } as Snapshot);
    expect([...document.querySelectorAll('.level')].map(({ textContent }) => textContent)).to.deep.equal([
      'error',
      'ok',
      'store',
    ]);
  });

  it('lists its shortcuts on the key `?`, and changes and stores the theme on the key `t`', async () => {
    await open('#/queues');
    key('?');
    expect(page.screen.getByRole('dialog').textContent).to.contain('this list');
    key('t');
    press(page.screen.getByRole('button', { name: 'Close' }));
    const { theme } = document.documentElement.dataset;
    key('t');
    expect(document.documentElement.dataset['theme']).to.not.equal(theme);
    expect(localStorage.getItem('queuelock.theme')).to.be.oneOf(['dark', 'light']);
  });
});
