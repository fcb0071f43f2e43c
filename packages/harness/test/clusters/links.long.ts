import { expect } from 'chai';
import { firewallRules } from '../../src/clusters/firewall.ts';
import { FINE, linkCuts, type Cut, type Node } from '../../src/clusters/links.ts';
import { exemptHosts } from '../../src/clusters/no-http-proxy.ts';
import { leaderOf, type View } from '../../src/clusters/store.ts';

const NODES: readonly Node[] = ['member-1', 'member-2', 'member-3', 'client-0', 'client-1'];

function cutPairs(...cuts: Partial<Cut>[]): string[] {
  const whole = cuts.map((cut): Cut => {
    return { member: 'member-1', from: 'all', direction: 'both', as: 'silence', ...cut };
  });
  return linkCuts(NODES, whole).map(({ from, to, as }) => `${from}>${to} ${as}`);
}

describe('a cut of a member', () => {
  it('affects both directions of every link', () => {
    expect(cutPairs({})).to.have.members(
      ['member-2', 'member-3', 'client-0', 'client-1'].flatMap((peer) => [
        `${peer}>member-1 silence`,
        `member-1>${peer} silence`,
      ]),
    );
  });

  it('loses what the member receives with direction "in", and what it sends with direction "out"', () => {
    expect(cutPairs({ from: 'members', direction: 'in' })).to.deep.equal([
      'member-2>member-1 silence',
      'member-3>member-1 silence',
    ]);
    expect(cutPairs({ from: 'clients', direction: 'out' })).to.deep.equal([
      'member-1>client-0 silence',
      'member-1>client-1 silence',
    ]);
  });

  it('affects only the link to another node when the cut names that node', () => {
    expect(cutPairs({ from: 'client-1', direction: 'in' })).to.deep.equal(['client-1>member-1 silence']);
    expect(cutPairs({ from: 'member-1' })).to.deep.equal([]);
  });

  it('leaves earlier cuts in force on all links that it does not affect', () => {
    const cuts = cutPairs(
      { from: 'member-2', direction: 'in' },
      { member: 'member-2', from: 'member-1', as: 'reset' },
    );
    expect(cuts).to.have.members(['member-2>member-1 reset', 'member-1>member-2 reset']);
  });
});

describe('the rules of the router', () => {
  const addressOf = (node: Node): string => `addr-${node}`;

  it('accept all packets when there are no faults', () => {
    expect(firewallRules(FINE, addressOf)).to.equal(
      '*filter\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\nCOMMIT\n',
    );
  });

  it('drop the packets of a silent cut, and reset the connections of a cut that resets', () => {
    const weather = {
      cuts: [
        { from: 'member-1', to: 'member-2', as: 'silence' },
        { from: 'client-0', to: 'member-2', as: 'reset' },
      ],
      slow: [{ member: 'member-3', lossRatio: 0.05 }],
    } as const;
    expect(firewallRules(weather, addressOf).split('\n').slice(4, -2)).to.deep.equal([
      '-A FORWARD -s addr-member-1 -d addr-member-2 -j DROP',
      '-A FORWARD -s addr-client-0 -d addr-member-2 -p tcp -j REJECT --reject-with tcp-reset',
      '-A FORWARD -s addr-member-3 -m statistic --mode random --probability 0.05 -j DROP',
      '-A FORWARD -d addr-member-3 -m statistic --mode random --probability 0.05 -j DROP',
    ]);
  });
});

describe('the leader of three members', () => {
  const view = (role: View['role'], term: number, leader?: string): View => {
    return leader === undefined ? { role, term } : { role, term, leader };
  };

  it('is the member that reports that it leads and that a majority follows', () => {
    expect(leaderOf([view('follower', 2, 'b'), view('leader', 2, 'b'), view('follower', 2, 'b')])).to.equal(
      1,
    );
    expect(leaderOf([undefined, view('follower', 7), view('leader', 7)])).to.equal(2);
  });

  it('is not a former leader that has lost its connections to the other members', () => {
    expect(leaderOf([view('leader', 1), view('none', 0), view('none', 0)])).to.equal(undefined);
    expect(leaderOf([view('leader', 1), undefined, undefined])).to.equal(undefined);
    expect(leaderOf([view('leader', 1), view('follower', 2), view('leader', 2)])).to.equal(2);
  });

  it('is not a member that no other member follows', () => {
    expect(leaderOf([view('leader', 3, 'a'), view('follower', 3, 'b'), view('none', 3, '0')])).to.equal(
      undefined,
    );
  });
});

describe('hosts that an HTTP proxy cannot reach', () => {
  it('are added to the exceptions of the proxy that the environment names', () => {
    const env: NodeJS.ProcessEnv = { http_proxy: 'http://proxy:3128', no_proxy: 'localhost' };
    exemptHosts(env, ['198.19.7.11', '198.19.7.12']);
    expect(env).to.include({
      no_proxy: 'localhost,198.19.7.11,198.19.7.12',
      no_grpc_proxy: 'localhost,198.19.7.11,198.19.7.12',
      NO_PROXY: '198.19.7.11,198.19.7.12',
    });
  });

  it('leave an environment without a proxy unchanged', () => {
    const env = {};
    exemptHosts(env, ['198.19.7.11']);
    expect(env).to.deep.equal({});
  });
});
