import { endScripts } from '@queuelock/harness/services/script-process';
import { etcdStore } from '../scenarios/etcd-store.ts';
import { startReceiver, type HttpReceiver } from './http-resource.ts';
import { expectStaleHolderRefused } from './stale-holder.ts';

const LOCK = 'fenced/http é';

describe('an HTTP receiver with a fence', function () {
  this.timeout(60_000);
  let receiver: HttpReceiver;

  beforeEach(async () => {
    receiver = await startReceiver(LOCK);
  });

  afterEach(async () => {
    await endScripts();
    await receiver.stop();
  });

  it('rejects the request of a holder that was frozen past its TTL, unlike a receiver without the fence', async () => {
    const site = await etcdStore.share('fenced requests over HTTP');
    await expectStaleHolderRefused(site, { kind: 'http', place: receiver.place, name: LOCK });
  });
});
