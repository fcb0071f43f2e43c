import { etcdctl, goElection, goMutex, goObserver, goService, goVisitor } from './kinds.ts';
import { named, ours, oursElection, oursObserver, oursVisitor } from './kinds.ts';
import { alike, amongOurs, each } from './parties.ts';
import type { Rows } from './row.ts';

export const etcd: Rows = {
  mixes: [
    {
      title: 'one queuelock client among six participants',
      parties: each(ours, goMutex, goElection, goService, etcdctl, goVisitor),
      short: true,
    },
    {
      title: 'five queuelock clients and one Go Mutex, beside clients that only try',
      parties: [{ kind: ours, count: 4 }, ...each(oursElection, goMutex, goVisitor, oursVisitor)],
      short: true,
    },
    {
      title: 'queuelock with both namings, Go Mutex and etcdctl',
      parties: [
        { kind: named('fast', ours), count: 3 },
        ...each(ours, goMutex, etcdctl, named('fast', oursVisitor)),
      ],
      short: true,
    },
    ...[goElection, goService, etcdctl, goVisitor].map(amongOurs),
  ],
  lines: [
    {
      title: 'participants of all kinds',
      pairs: [{ holder: goVisitor }, ...alike(goMutex, ours, goElection, goService, etcdctl, oursElection)],
      last: ours,
      short: true,
    },
  ],
  elections: [
    {
      title: 'elections of queuelock and Go',
      candidates: [oursElection, goElection],
      observers: [oursObserver, goObserver],
    },
  ],
};
