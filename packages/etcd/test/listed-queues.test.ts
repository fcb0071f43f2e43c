import { expect } from 'chai';
import type { IEvent } from '../src/protocol/messages.ts';
import { diagnoseKeys, leasesIn } from '../src/views/diagnose-keys.ts';
import { ListedQueues, type ListedKey } from '../src/queue/listed-queues.ts';
import { rangeOfText } from '../src/views/queues.ts';

function key(text: string, revision: number, lease = '10'): ListedKey {
  const at = String(revision);
  return { key: Buffer.from(text), create_revision: at, mod_revision: at, lease };
}

function event(type: IEvent['type'], text: string, revision: number, created = revision): IEvent {
  const create_revision = String(created);
  const kv = { ...key(text, revision), create_revision, version: '1', value: Buffer.alloc(0) };
  return { type, kv, prev_kv: kv };
}

describe('the list of queues in etcd', () => {
  const shown = (lines: ListedQueues): string[] =>
    lines.queues().map(({ name, depth, front, left }) => `${name} ${depth} ${front} ${left}`);

  it('contains only directories in which at least one key is named after its lease', () => {
    const lines = new ListedQueues('p/', () => 0, false);
    lines.list([
      key('p/b/a-0123', 7),
      key('p/a', 5),
      key('p/b/a', 6),
      key('p/b/x', 9),
      key('p/config/a', 3, '0'),
      key('p/c/d/ff', 4, '255'),
      key('p/fast/~2.a-0123', 10),
      key('p/.queuelock/tail/fast', 10),
      key('p/note/~a', 2),
      key('p/.queuelock/shared/b/a', 8),
    ]);
    expect(shown(lines)).to.deep.equal(['c/d 1 4 0', 'b 3 6 0', 'fast 1 10 0']);
  });

  it('also contains, if the caller requests it, directories with only keys of other programs', () => {
    const lines = new ListedQueues('p/', () => 0, true);
    lines.list([
      key('p/config/a', 3, '0'),
      key('p/config/b', 4),
      key('p/jobs/a-1', 5),
      key('p/jobs/x', 6, '0'),
    ]);
    expect(lines.queues()).to.deep.equal([
      { name: 'config', depth: 2, front: 3n, left: 0, foreign: 2 },
      { name: 'jobs', depth: 2, front: 5n, left: 0, foreign: 1 },
    ]);
  });

  it('is updated by events that are newer than the read of the keys', () => {
    const lines = new ListedQueues('', () => 0, false);
    lines.list([key('q/a-1', 5), key('q/a-2', 6)]);
    lines.apply([event('Delete', 'q/a-1', 6), event('Put', 'q/a-3', 8), event('Put', 'q/a-2', 8, 6)], 6n);
    expect(shown(lines)).to.deep.equal(['q 3 5 0']);
    lines.apply([event('Delete', 'q/a-1', 9), event('Delete', 'q/a-1', 9), event('Put', 'r/a', 10)], 6n);
    expect(shown(lines)).to.deep.equal(['q 2 6 1', 'r 1 10 0']);
  });

  it('moves a key that was created again to the end of its queue', () => {
    const lines = new ListedQueues('', () => 0, false);
    lines.list([key('q/a-1', 5), key('q/a-2', 6)]);
    lines.apply([event('Delete', 'q/a-1', 7), event('Put', 'q/a-1', 8)], 6n);
    expect(shown(lines)).to.deep.equal(['q 2 6 1']);
    lines.apply([event('Put', 'q/a-2', 9)], 6n);
    expect(shown(lines)).to.deep.equal(['q 2 8 2']);
  });

  it('continues the departure count of a queue that was empty for only a short time', () => {
    let now = 0;
    const lines = new ListedQueues('', () => now, false);
    for (const pauseMs of [1_000, 100_000]) {
      lines.apply([event('Put', 'q/a-1', 1)], 0n);
      lines.apply([event('Delete', 'q/a-1', 2)], 0n);
      expect(shown(lines)).to.deep.equal([]);
      now += pauseMs;
      expect(shown(lines)).to.deep.equal([]);
      lines.apply([event('Put', 'q/a-1', 3)], 0n);
      expect(shown(lines)).to.deep.equal([pauseMs === 1_000 ? 'q 1 3 1' : 'q 1 3 0']);
      lines.apply([event('Delete', 'q/a-1', 4)], 0n);
    }
  });

  it('is read as one range: the keys with the prefix, or all keys if there is no prefix', () => {
    expect(rangeOfText('a/ü')).to.deep.equal({ key: Buffer.from('a/ü'), range_end: Buffer.from('a/ý') });
    expect(rangeOfText('')).to.deep.equal({ key: Buffer.from([0]), range_end: Buffer.from([0]) });
  });
});

describe('the diagnosis of keys in etcd', () => {
  const found = (...keys: readonly ListedKey[]): string[] =>
    diagnoseKeys({ prefix: '', beginning: '' }, keys).map(
      ({ level, about, text }) => `${level} ${about}: ${text}`,
    );

  it('reports no problem when all keys are entries, whichever client created them', () => {
    const keys = [key('q/a', 1), key('q/a-1', 2), key('q/ff-2', 3, '255')];
    expect(found(...keys)).to.deep.equal(['ok queues: 1 in use, entries: 3']);
    expect(leasesIn('', [...keys, key('config/x', 4, '0')])).to.deep.equal(['10', '255']);
  });

  it('reports directories without entries one by one if the backend has a prefix', () => {
    const keys = [key('p/config/x', 4, '0'), key('p/config/y', 5), key('p/leased/x', 6)];
    const [, ...below] = diagnoseKeys({ prefix: 'p/', beginning: '' }, keys);
    expect(below.map(({ level, about }) => `${level} ${about}`)).to.deep.equal([
      'warning directory "p/config/"',
      'warning directory "p/leased/"',
    ]);
    expect(below[0]?.text).to.match(/\(2\).* "config" would wait forever/);
    expect(below[1]?.text).to.match(/"leased" would wait until their leases end/);
    expect(found(...keys)[1]).to.match(/^warning directories: 2 of them /);
    const many = Array.from({ length: 15 }, (_, at) => key(`p/d${at}/x`, at + 1, '0'));
    expect(diagnoseKeys({ prefix: 'p/', beginning: '' }, many).at(-1)?.text).to.match(/^5 of them /);
  });

  it('reports a key that blocks all entries, as an error if the key has no lease', () => {
    const [, stray, leased] = found(key('q/a', 1), key('q/x', 2, '0'), key('q/y', 3));
    expect(stray).to.match(/^error key "q\/x": .*never expires/);
    expect(leased).to.match(/^warning key "q\/y": .*is deleted with its lease/);
  });

  it('reports nested names that a Go client would treat as one queue', () => {
    expect(found(key('a/a', 1), key('a/b/a-1', 2))[1]).to.match(/^error queue "a": .*"a\/b"/);
    expect(found(key('a/a-1', 1), key('a/b/a', 2))).to.have.length(1);
  });
});
