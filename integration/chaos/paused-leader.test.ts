import { expect } from 'chai';
import type { Cluster, Member } from '@queuelock/harness/clusters';
import { struckMember } from './paused-leader.ts';

/** Returns a cluster whose first member leads, for a choice that needs no servers. */
function clusterOf(name: Cluster['name'], members: readonly Member[]): Cluster {
  return {
    name,
    leader: async () => members[0],
    others: (than: Member) => members.filter((member) => member !== than),
  } as unknown as Cluster;
}

describe('the member that a fault strikes', () => {
  const [leader, follower, last] = [1, 2, 3].map((at) => ({ node: `member-${at}` }) as unknown as Member);
  const members = [leader!, follower!, last!];

  for (const [name, kind, drawn, struck] of [
    ['etcd', 'leader frozen', leader, follower],
    ['etcd', 'member frozen', leader, follower],
    ['etcd', 'member frozen', last, last],
    ['etcd', 'leader killed', leader, leader],
    ['ZooKeeper', 'leader frozen', leader, leader],
  ] as const)
    it(`is ${struck!.node} of ${name} for "${kind}" of ${drawn!.node}, while member-1 leads`, async () => {
      expect(await struckMember(clusterOf(name, members), kind, drawn!)).to.equal(struck);
    });
});
