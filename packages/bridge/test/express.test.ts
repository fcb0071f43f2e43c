import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLockClient } from '@queuelock/core';
import { memory } from '@queuelock/memory';
import { expect } from 'chai';
import express, { type Express } from 'express';
import { filter, firstValueFrom } from 'rxjs';
import { createBridgeClient, type BridgeClient } from '../src/client.ts';
import { createBridge, nodeListener, type Bridge, type BridgeOptions } from '../src/index.ts';

/** Starts an Express application that serves the bridge, and opens a page client that connects to it. */
async function application(
  mount: (app: Express, bridge: Bridge) => void,
  options: Partial<BridgeOptions> = {},
): Promise<AsyncDisposable & { readonly page: BridgeClient; readonly url: string }> {
  const client = createLockClient(memory(), { owner: 'bridge' });
  const bridge = createBridge({ client, authorize: () => true, ...options });
  const app = express();
  mount(app, bridge);
  const server: Server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const page = createBridgeClient({ url: `${url}/queuelock` });
  return {
    page,
    url,
    async [Symbol.asyncDispose]() {
      page.close();
      await bridge.close();
      server.closeAllConnections();
      server.close();
      await client.close();
    },
  };
}

describe('nodeListener in an Express application', () => {
  const mounts: Readonly<Record<string, (app: Express, bridge: Bridge) => void>> = {
    'below its path': (app, bridge) => app.use('/queuelock', nodeListener(bridge.handle)),
    'at the root': (app, bridge) => app.use(nodeListener(bridge.handle)),
    'after a body parser': (app, bridge) => {
      app.use(express.json());
      app.use('/queuelock', nodeListener(bridge.handle));
    },
  };
  for (const [where, mount] of Object.entries(mounts))
    it(`serves pages when the listener is mounted ${where}`, async () => {
      await using s = await application(mount);
      const held = await firstValueFrom(
        s.page.join('q', { owner: 'anna' }).pipe(filter(({ status }) => status === 'held')),
      );
      expect(held.status).to.equal('held');
    });

  it('passes the request object of Express to authorize, with all properties that middleware added', async () => {
    const users: unknown[] = [];
    await using s = await application(
      (app, bridge) => {
        app.use((request, _response, next) => {
          Object.assign(request, { user: 'anna' });
          next();
        });
        app.use('/queuelock', nodeListener(bridge.handle));
      },
      {
        authorize: (_request, _action, { incoming }) => {
          const { user } = incoming as unknown as { readonly user: string };
          users.push(user);
          return { name: user };
        },
      },
    );
    expect(await s.page.facts()).to.include({ identity: 'anna' });
    expect(new Set(users)).to.deep.equal(new Set(['anna']));
  });

  it('names the expected path in its response when it is mounted below another path', async () => {
    await using s = await application((app, bridge) => app.use('/locks', nodeListener(bridge.handle)));
    const response = await fetch(`${s.url}/locks/v2/facts`);
    expect(response.status).to.equal(404);
    expect(await response.json())
      .to.have.nested.property('error.message')
      .that.includes('begin with /queuelock/ (its option basePath), and the request is GET /locks/v2/facts');
  });
});
