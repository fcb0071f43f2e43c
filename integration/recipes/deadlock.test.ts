import { expect } from 'chai';
import { circleOf } from './circle.ts';

const TTL_MS = 10_000;

for (const count of [2, 3]) {
  describe(`a deadlock of ${count} processes over etcd and ZooKeeper`, function () {
    this.timeout(60_000);
    const circle = circleOf(count);

    it('ends when the youngest member gives up, and no other member does', async () => {
      const members = await circle.close('yields', { yields: true, ttlMs: () => TTL_MS });
      await Promise.all(members.map(({ ended }) => ended));
      const ends = members.map(({ events, member }) => [member.owner, events.at(-1)]);
      expect(ends).to.deep.equal([
        ...members.slice(0, -1).map(({ member }) => [member.owner, { ev: 'done' }]),
        [members.at(-1)!.member.owner, { ev: 'gave-up', code: 'DEADLOCK' }],
      ]);
    });
  });
}
