import type { QueueSnapshot } from '@queuelock/bridge/wire';
import { expect } from 'chai';
import { StrictMode, type ReactElement, type ReactNode } from 'react';
import { BridgeProvider, useBridge, useLeader, useQueue } from '../src/index.ts';
import { FakeBridge, LIVE } from './fake-bridge.ts';
import { openPage, type Page } from './page.ts';

function snapshotOf(name: string, owners: readonly string[]): QueueSnapshot {
  const entries = owners.map((owner, position) => ({
    key: owner,
    order: String(position),
    owner,
    shared: false,
    metadata: {},
    permits: 1,
    limit: 1,
    holds: [],
    position,
    seenAt: 0,
  }));
  return { name, at: 0, status: 'live', entries, evictions: [], handOffs: 0 };
}

function Owners({ name }: { readonly name: string }): ReactElement {
  const { connection, snapshot } = useQueue(name);
  return <p>{snapshot ? snapshot.entries.map(({ owner }) => owner).join(' ') : connection}</p>;
}

describe('hooks over snapshots', () => {
  let page: Page;
  let bridge: FakeBridge;

  before(async () => {
    page = await openPage();
  });

  after(() => page.close());

  beforeEach(() => {
    bridge = new FakeBridge();
  });

  afterEach(() => {
    page.testing.cleanup();
  });

  const show = (children: ReactNode): ReturnType<Page['testing']['render']> =>
    page.testing.render(
      <StrictMode>
        <BridgeProvider client={bridge}>{children}</BridgeProvider>
      </StrictMode>,
    );
  const say = (owners: readonly string[], name = 'a'): void => {
    page.testing.act(() => {
      bridge.say('queue', name, { ...LIVE, snapshot: snapshotOf(name, owners) });
    });
  };
  const texts = (container: HTMLElement): (string | null)[] =>
    [...container.querySelectorAll('p')].map(({ textContent }) => textContent);

  it('share one stream between two components that show the same queue', () => {
    const { container } = show([<Owners key="1" name="a" />, <Owners key="2" name="a" />]);
    say(['ann', 'bob']);
    expect(texts(container)).to.deep.equal(['ann bob', 'ann bob']);
    expect([bridge.opened, bridge.subscribers.get('queue a')]).to.deep.equal([1, 1]);
  });

  it('show the last snapshot at the first rendering of a component that mounts later', () => {
    const shown: string[] = [];
    function Reported(): null {
      shown.push(useQueue('a').snapshot?.entries[0]?.owner ?? 'nothing');
      return null;
    }
    const { rerender } = show(<Owners name="a" />);
    say(['ann']);
    rerender(
      <BridgeProvider client={bridge}>
        <Owners name="a" />
        <Reported />
      </BridgeProvider>,
    );
    expect(shown[0]).to.equal('ann');
    expect(bridge.opened).to.equal(1);
  });

  it('keep a stream open when another component mounts soon after the last one unmounts', async () => {
    const { unmount } = show(<Owners name="a" />);
    unmount();
    expect(bridge.subscribers.get('queue a')).to.equal(1);
    const again = show(<Owners name="a" />);
    expect(bridge.opened).to.equal(1);
    again.unmount();
    await page.testing.waitFor(() => {
      expect(bridge.subscribers.get('queue a')).to.equal(0);
    });
    show(<Owners name="a" />);
    expect(bridge.opened).to.equal(2);
  });

  it('open another stream when the queue name changes', () => {
    const { container, rerender } = show(<Owners name="a" />);
    say(['ann']);
    rerender(
      <StrictMode>
        <BridgeProvider client={bridge}>
          <Owners name="b" />
        </BridgeProvider>
      </StrictMode>,
    );
    expect(texts(container)).to.deep.equal(['connecting']);
    say(['bob'], 'b');
    expect(texts(container)).to.deep.equal(['bob']);
  });

  it('report a lost connection to the bridge together with the last snapshot', () => {
    const { container } = show(<Owners name="a" />);
    say(['ann']);
    page.testing.act(() => {
      bridge.say('queue', 'a', { connection: 'stale', since: 5, snapshot: snapshotOf('a', ['ann']) });
    });
    expect(texts(container)).to.deep.equal(['ann']);
  });

  it('do not render again for a snapshot that is the same object as the last one', () => {
    let renderings = 0;
    const seen = { ...LIVE, snapshot: snapshotOf('a', ['ann']) };
    function Counted(): null {
      useQueue('a');
      renderings += 1;
      return null;
    }
    show(<Counted />);
    page.testing.act(() => {
      bridge.say('queue', 'a', seen);
    });
    const before = renderings;
    page.testing.act(() => {
      bridge.say('queue', 'a', seen);
    });
    expect(renderings).to.equal(before);
  });

  it('return the first candidate of an election as the leader', () => {
    function Leader(): ReactElement {
      return <p>{useLeader('e').leader?.value ?? 'nobody'}</p>;
    }
    const { container } = show(<Leader />);
    expect(texts(container)).to.deep.equal(['nobody']);
    const candidates = [
      { value: 'one:80', key: 'k1', order: '1' },
      { value: 'two:80', key: 'k2', order: '2' },
    ];
    page.testing.act(() => {
      bridge.say('election', 'e', { ...LIVE, snapshot: { name: 'e', at: 0, status: 'live', candidates } });
    });
    expect(texts(container)).to.deep.equal(['one:80']);
  });

  it('throw an error that names BridgeProvider when the component is not inside one', () => {
    function Lost(): null {
      useBridge();
      return null;
    }
    expect(() => page.testing.render(<Lost />)).to.throw('<BridgeProvider client={…}>');
  });
});
