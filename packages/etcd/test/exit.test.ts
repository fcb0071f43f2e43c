import { sharedEtcd } from '@queuelock/harness/services';
import { endingOf } from './process-exit.ts';

describe('a process that used etcd', () => {
  it('exits by itself after everything is closed', async () => {
    const { endpoint } = await sharedEtcd('exit of @queuelock/etcd');
    await endingOf(new URL('./whole-life.ts', import.meta.url), [endpoint]);
  });
});
