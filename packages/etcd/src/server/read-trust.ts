/** The version of a member, and its view of the cluster. Numbers are decimal text. */
export interface MemberFacts {
  readonly version: string;
  /** The Raft term in which the member has responded. It grows with each election of a leader. */
  readonly term: string;
  readonly member: string;
  /** The id of the leader in the Raft term `term`; `0` if there is none. */
  readonly leader: string;
}

const VERSION = /^v?(\d+)\.(\d+)\.(\d+)(-\S+)?/;

/**
 * For each minor version of etcd 3, the first patch release without a particular bug. Later minor versions, which are not listed, never had that bug.
 */
type FirstSound = Readonly<Record<string, number>>;

// The releases without stale linearizable reads after a pause of a member: https://github.com/etcd-io/etcd/issues/20418
const FIRST_SOUND_PATCH: FirstSound = { '4': 42, '5': 28, '6': 9 };
// The releases whose watches never lose the event of a deletion at a compaction: https://github.com/etcd-io/etcd/issues/19179
const FIRST_WITH_ALL_EVENTS: FirstSound = { '4': 36, '5': 18 };
// The releases whose watch events are in time after a compaction: https://github.com/etcd-io/etcd/tree/main/CHANGELOG
const FIRST_WITH_PROMPT_EVENTS: FirstSound = { '5': 22, '6': 2 };
// The releases whose leaders check, before they revoke leases, that they were not replaced: https://github.com/etcd-io/etcd/issues/15247
const FIRST_WITH_CHECKED_REVOCATIONS: FirstSound = { '4': 31, '5': 13 };

/**
 * Returns whether linearizable reads of this version of etcd may be stale after a member was paused: before 3.4.42, 3.5.28 and 3.6.9.
 * Also `true` for text that is not a version.
 */
export function staleReads(version: string): boolean {
  return isUnsound(version, FIRST_SOUND_PATCH);
}

/**
 * Returns whether watches of this version of etcd can lose the event of a deletion around a compaction: before 3.4.36 and 3.5.18. Also
 * `true` for text that is not a version.
 */
export function losesEvents(version: string): boolean {
  return isUnsound(version, FIRST_WITH_ALL_EVENTS);
}

/** Returns whether this version of etcd is older than 3.4, the oldest supported one. */
export function isTooOld(version: string): boolean {
  const [, major, minor] = VERSION.exec(version) ?? [];
  return major !== undefined && (Number(major) < 3 || (major === '3' && Number(minor) < 4));
}

/**
 * Returns the first release, of the same minor version, whose watches deliver every event in time after a compaction. Returns `undefined` if the
 * given version already does.
 */
export function soundWatchesSince(version: string): string | undefined {
  return firstOf(version, FIRST_WITH_PROMPT_EVENTS);
}

/**
 * Returns the first release, of the same minor version, whose leaders check that they were not replaced before they revoke leases. Returns `undefined`
 * if the given version already does. The check is no guarantee: from 3.4.34 and 3.5.16 on, a leader that resumes after a pause may skip it.
 */
export function checkedRevocationsSince(version: string): string | undefined {
  return firstOf(version, FIRST_WITH_CHECKED_REVOCATIONS);
}

function firstOf(version: string, firstSound: FirstSound): string | undefined {
  const [, major, minor = ''] = VERSION.exec(version) ?? [];
  const first = major === '3' ? firstSound[minor] : undefined;
  return first !== undefined && isUnsound(version, firstSound) ? `3.${minor}.${first}` : undefined;
}

function isUnsound(version: string, firstSound: FirstSound): boolean {
  const [, major = '0', minor = '0', patch = '0', preRelease] = VERSION.exec(version) ?? [];
  if (Number(major) !== 3) return Number(major) < 3;
  if (Number(minor) < 4) return true;
  const first = firstSound[minor] ?? 0;
  return Number(patch) < first || (Number(patch) === first && preRelease !== undefined);
}

/**
 * Returns one text for each member that may return stale reads in this Raft term, with the reason. The list is empty if no member may. A version that
 * was read in another term is ignored, because the member may have been upgraded since. The leader's version must be known too, because the leader
 * takes part in every linearizable read.
 */
export function distrust(term: string, factsByHost: ReadonlyMap<string, MemberFacts | undefined>): string[] {
  const reasons: string[] = [];
  const members = new Set([...factsByHost.values()].map((facts) => facts?.member));
  for (const [host, facts] of factsByHost) {
    if (facts?.term !== term) reasons.push(`${host} has not returned its version in Raft term ${term}`);
    else if (staleReads(facts.version)) reasons.push(`${host} runs ${facts.version}${soundSince(facts)}`);
    else if (!members.has(facts.leader))
      reasons.push(`${host} follows a leader that is not among the hosts, so its version is not known`);
  }
  return reasons;
}

function soundSince({ version }: MemberFacts): string {
  const [, , minor = ''] = VERSION.exec(version) ?? [];
  const patch = FIRST_SOUND_PATCH[minor];
  const since = patch === undefined ? '3.4.42, 3.5.28 and 3.6.9' : `3.${minor}.${patch}`;
  return `, whose linearizable reads may be stale after a pause (fixed in ${since})`;
}
