import type { BridgeClient } from '@queuelock/bridge/client';
import { createBridge, serve } from '@queuelock/bridge';
import { createLockClient } from '@queuelock/core';
import { createMemoryServer, memory } from '@queuelock/memory';
import { expect } from 'chai';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openPage } from './page.ts';

const home = fileURLToPath(new URL('..', import.meta.url));

/**
 * Writes the first example of the README as a module of this package. The module connects to the bridge at
 * `url`, and exports its client so that the test can close it.
 */
function exampleAt(folder: string, url: string): string {
  const example = /```tsx\n(.*?)```/s.exec(readFileSync(join(home, 'README.md'), 'utf8'))?.[1] ?? '';
  const file = join(folder, 'example.tsx');
  writeFileSync(
    file,
    `${example.replace('createBridgeClient()', `createBridgeClient({ url: '${url}' })`)}export { client };`,
  );
  return pathToFileURL(file).href;
}

describe('the example of the README of @queuelock/react', () => {
  it('takes a lock for a page, and shows the other holders', async () => {
    const server = createMemoryServer();
    const [own, bob] = ['bridge', 'Bob'].map((owner) => createLockClient(memory({ server }), { owner }));
    const bridge = createBridge({ client: own!, authorize: () => true });
    const served = await serve({ handle: bridge.handle });
    const page = await openPage();
    document.body.innerHTML = '<div id="root"></div>';
    mkdirSync(join(home, 'dist'), { recursive: true });
    const folder = mkdtempSync(join(home, 'dist', 'readme-'));

    const { client } = (await import(exampleAt(folder, `${served.url}/queuelock`))) as {
      client: BridgeClient;
    };
    rmSync(folder, { recursive: true });
    const { screen, testing } = page;
    const { fireEvent } = testing;
    const editing = await bob!.acquire('invoice-7');
    await screen.findByText('Bob is editing; stand in line');
    fireEvent.click(await screen.findByText('Bob is editing; stand in line'));
    await screen.findByText('You are number 1 in line; leave it');
    await editing.release();
    fireEvent.click(await screen.findByText(/^Done \(token \d+\)$/));
    await screen.findByText('Edit');
    await page.testing.waitFor(() => {
      expect(server.entryCount).to.equal(0);
    });

    client.close();
    await page.close();
    await bridge.close();
    await served.close();
    await Promise.all([own!.close(), bob!.close()]);
  });
});
