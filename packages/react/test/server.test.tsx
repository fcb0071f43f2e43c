import { expect } from 'chai';
import type { ReactElement } from 'react';
import { BridgeProvider, useConnection, useLock, useQueue } from '../src/index.ts';
import { FakeBridge, LIVE } from './fake-bridge.ts';
import { openPage } from './page.ts';

function Where({ name }: { readonly name: string }): ReactElement {
  const { snapshot } = useQueue(name);
  const { state } = useLock(name);
  return <p>{`${useConnection().connection} ${snapshot ? 'seen' : 'unseen'} ${state.status}`}</p>;
}

describe('hooks rendered on a server', () => {
  let renderToString: (page: ReactElement) => string;

  before(async () => {
    ({ renderToString } = await import('react-dom/server'));
  });

  it('render the initial state, and open no stream', () => {
    const bridge = new FakeBridge();
    const html = renderToString(
      <BridgeProvider client={bridge}>
        <Where name="a" />
      </BridgeProvider>,
    );
    expect(html).to.equal('<p>connecting unseen idle</p>');
    expect([bridge.opened, bridge.joins.length]).to.deep.equal([0, 0]);
  });

  it("are hydrated in the browser without a difference from the server's HTML", async () => {
    const bridge = new FakeBridge();
    bridge.say('queue', 'a', { ...LIVE, snapshot: undefined });
    const page = (
      <BridgeProvider client={bridge}>
        <Where name="a" />
      </BridgeProvider>
    );
    const html = renderToString(page);
    const opened = await openPage();
    const errors: unknown[] = [];
    const container = document.body.appendChild(document.createElement('div'));
    container.innerHTML = html;
    opened.testing.render(page, {
      container,
      hydrate: true,
      onRecoverableError: (error) => errors.push(error),
    });
    expect(errors).to.deep.equal([]);
    expect(bridge.opened).to.equal(1);
    await opened.close();
  });
});
