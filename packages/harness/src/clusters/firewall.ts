import type { LinkCut, Node, Weather } from './links.ts';

/**
 * Returns the router's rules in the format of iptables-restore(8), which replaces all rules at once. A packet
 * that the router drops is lost silently. If a member dropped its own packet, the sending process would get an
 * error.
 */
export function firewallRules(weather: Weather, addressOf: (node: Node) => string): string {
  const rules = [
    ...weather.cuts.map((cut) => cutRule(cut, addressOf)),
    ...weather.slow.flatMap(({ member, lossRatio }) =>
      lossRatio === undefined ? [] : lossRules(addressOf(member), lossRatio),
    ),
  ];
  return ['*filter', ':INPUT ACCEPT', ':FORWARD ACCEPT', ':OUTPUT ACCEPT', ...rules, 'COMMIT', ''].join('\n');
}

function cutRule({ from, to, as }: LinkCut, addressOf: (node: Node) => string): string {
  const target = as === 'reset' ? '-p tcp -j REJECT --reject-with tcp-reset' : '-j DROP';
  return `-A FORWARD -s ${addressOf(from)} -d ${addressOf(to)} ${target}`;
}

function lossRules(address: string, ratio: number): string[] {
  return ['-s', '-d'].map(
    (end) => `-A FORWARD ${end} ${address} -m statistic --mode random --probability ${ratio} -j DROP`,
  );
}
