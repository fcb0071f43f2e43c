import { createBridge, serve } from '@queuelock/bridge';
import { createBridgeClient } from '@queuelock/bridge/client';
import { createLockClient } from '@queuelock/core';
import { createMemoryServer, memory } from '@queuelock/memory';
import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filter, firstValueFrom, type Observable } from 'rxjs';
import { effectScope, watch, type ShallowRef } from 'vue';

const SITE = join(import.meta.dirname, '..');

type UseStream = <T>(stream$: Observable<T>) => Readonly<ShallowRef<T | undefined>>;

/**
 * Loads the composable (a function for Vue components) that the site's page `vue.md` shows, with its code
 * unchanged.
 */
async function composableOfPage(): Promise<UseStream> {
  const page = readFileSync(join(SITE, 'pages/vue.md'), 'utf8');
  const code = /```typescript\n(\/\/ use-stream\.ts\n.*?)```/s.exec(page)?.[1];
  const folder = mkdtempSync(join(SITE, 'node_modules/.vue-'));
  try {
    const file = join(folder, 'use-stream.mts');
    writeFileSync(file, code ?? '');
    return ((await import(pathToFileURL(file).href)) as { useStream: UseStream }).useStream;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the composable of the site's page for Vue", () => {
  it('shows the holders of a lock, and unsubscribes when its scope ends', async () => {
    const useStream = await composableOfPage();
    const server = createMemoryServer();
    const [own, bob] = ['bridge', 'Bob'].map((owner) => createLockClient(memory({ server }), { owner }));
    const bridge = createBridge({ client: own!, authorize: () => true });
    const served = await serve({ handle: bridge.handle });
    const client = createBridgeClient({ url: `${served.url}/queuelock` });
    const held = await bob!.acquire('oven');

    const scope = effectScope();
    const queue = scope.run(() => useStream(client.queue('oven')))!;
    await new Promise<void>((resolve) => {
      scope.run(() =>
        watch(
          queue,
          (seen) => {
            if (seen?.snapshot?.entries[0]?.owner === 'Bob') resolve();
          },
          { immediate: true, flush: 'sync' },
        ),
      );
    });
    expect(queue.value?.connection).to.equal('live');
    scope.stop();
    const last = queue.value;

    await held.release();
    // The release empties the queue. If the composable were still subscribed, its value would now be the
    // empty queue.
    await firstValueFrom(client.queue('oven').pipe(filter(({ snapshot }) => snapshot?.entries.length === 0)));
    expect(queue.value).to.equal(last);
    client.close();
    await bridge.close();
    await served.close();
    await Promise.all([own!.close(), bob!.close()]);
  });
});
