import type { JoinState, PageLock } from '@queuelock/bridge/client';
import { expect } from 'chai';
import { StrictMode, useEffect, type ReactElement } from 'react';
import { BridgeProvider, useLock, type LockView } from '../src/index.ts';
import { FakeBridge, LIVE } from './fake-bridge.ts';
import { openPage, type Page } from './page.ts';

function heldLock(name: string): PageLock {
  return {
    name,
    id: 'i',
    key: 'k',
    order: '1',
    token: '7',
    held: true,
    remainingMs: 1_000,
    signal: new AbortController().signal,
    requests: [],
    answer: async () => undefined,
    release: async () => undefined,
  };
}

const QUEUED: JoinState = {
  ...LIVE,
  status: 'queued',
  id: 'i',
  token: '7',
  position: 2,
  expectedWaitMs: undefined,
  at: 0,
  answer: undefined,
};

describe('useLock', () => {
  let page: Page;
  let bridge: FakeBridge;
  let view: LockView;

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

  function Editor({ name, isKeen = false, owner }: { name: string; isKeen?: boolean; owner?: string }): null {
    view = useLock(name, owner === undefined ? undefined : { owner });
    const { join } = view;
    useEffect(() => {
      if (isKeen) join();
    }, [isKeen, join]);
    return null;
  }
  const around = (child: ReactElement, client = bridge): ReactElement => (
    <StrictMode>
      <BridgeProvider client={client}>{child}</BridgeProvider>
    </StrictMode>
  );
  const say = (state: JoinState): void => {
    page.testing.act(() => {
      bridge.joins.at(-1)!.say(state);
    });
  };
  const untilLeft = (at: number): Promise<void> =>
    page.testing.waitFor(() => {
      expect(bridge.joins[at]!.hasLeft).to.equal(true);
    });

  it('joins the queue only when `join` is called, and joins once even if it is called twice', () => {
    page.testing.render(around(<Editor name="a" />));
    expect(bridge.joins).to.have.lengthOf(0);
    page.testing.act(() => {
      view.join();
      view.join();
    });
    expect(bridge.joins).to.have.lengthOf(1);
  });

  it('makes one join under StrictMode when an effect calls `join`, and keeps it', async () => {
    page.testing.render(around(<Editor name="a" isKeen />));
    expect(bridge.joins).to.have.lengthOf(1);
    await new Promise((resolve) => setTimeout(resolve));
    await new Promise((resolve) => setTimeout(resolve));
    expect(bridge.joins[0]!.hasLeft).to.equal(false);
  });

  it('returns the states queued, held and ended', () => {
    page.testing.render(around(<Editor name="a" isKeen />));
    say(QUEUED);
    expect([view.state.status, view.position, view.lock]).to.deep.equal(['queued', 2, undefined]);
    const lock = heldLock('a');
    say({ ...LIVE, status: 'held', lock });
    expect([view.position, view.lock, view.signal]).to.deep.equal([0, lock, lock.signal]);
    say({ ...LIVE, status: 'ended', outcome: 'lost', error: undefined });
    expect([view.state.status, view.lock, view.signal]).to.deep.equal(['ended', undefined, undefined]);
  });

  it('can join again after its join has ended', () => {
    page.testing.render(around(<Editor name="a" isKeen />));
    say({ ...LIVE, status: 'ended', outcome: 'failed', error: undefined });
    page.testing.act(() => {
      bridge.joins[0]!.end();
      view.join();
    });
    expect(bridge.joins).to.have.lengthOf(2);
  });

  it('leaves the queue when `leave` is called, and ignores later states of the ended join', () => {
    page.testing.render(around(<Editor name="a" isKeen />));
    say(QUEUED);
    page.testing.act(() => {
      view.leave();
    });
    expect([view.state.status, bridge.joins[0]!.hasLeft]).to.deep.equal(['idle', true]);
    say({ ...LIVE, status: 'held', lock: heldLock('a') });
    expect(view.state.status).to.equal('idle');
  });

  it('leaves when the component unmounts', async () => {
    const { unmount } = page.testing.render(around(<Editor name="a" isKeen />));
    unmount();
    await untilLeft(0);
  });

  it('joins and leaves again at once when `join` is called after the component has unmounted', async () => {
    const { unmount } = page.testing.render(around(<Editor name="a" />));
    const { join } = view;
    unmount();
    join();
    await untilLeft(0);
  });

  it('leaves the first queue when the name changes', async () => {
    const { rerender } = page.testing.render(around(<Editor name="a" isKeen />));
    say(QUEUED);
    rerender(around(<Editor name="b" />));
    expect(view.state.status).to.equal('idle');
    await untilLeft(0);
  });

  it("leaves the first client's queue when the client changes", async () => {
    const { rerender } = page.testing.render(around(<Editor name="a" isKeen />));
    rerender(around(<Editor name="a" />, new FakeBridge()));
    expect(view.state.status).to.equal('idle');
    await untilLeft(0);
  });

  it('joins with the options of the last rendering, although `join` is the same function', () => {
    const { rerender } = page.testing.render(around(<Editor name="a" owner="ann" />));
    const { join } = view;
    rerender(around(<Editor name="a" owner="bob" />));
    expect(view.join).to.equal(join);
    page.testing.act(join);
    expect(bridge.joins[0]!.options).to.deep.equal({ owner: 'bob' });
  });

  it('treats two components as two contenders for the lock', () => {
    page.testing.render(
      around(
        <>
          <Editor name="a" isKeen />
          <Editor name="a" isKeen />
        </>,
      ),
    );
    expect(bridge.joins).to.have.lengthOf(2);
  });
});
