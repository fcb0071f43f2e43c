import { expect } from 'chai';
import { decodeRecords } from '../src/handover/eviction-records.ts';
import { QueueLockError, escapeControls, quote, toPrintable } from '../src/index.ts';
import { onStage, rejection } from './stage.ts';

const HOSTILE = 'a\u001B]0;t\u0007\u009B2J\nFORGED\r\u0085\u2028\u202Eb\u2066c\u200B\uFEFF\u007F';
const RAW = /[\p{C}\p{Zl}\p{Zp}]/u;

function untilStopped(_hold: unknown, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    stop.addEventListener('abort', () => resolve());
  });
}

describe('printable text', () => {
  it('escapes control characters and invisible characters as JSON does', () => {
    expect(escapeControls('a\u001B[2Jb\nc\u202Ed')).to.equal('a\\u001b[2Jb\\u000ac\\u202ed');
    expect(escapeControls('\u009B\u2029\u200B\u3164\uD800\u{E0041}')).to.equal(
      '\\u009b\\u2029\\u200b\\u3164\\ud800\\udb40\\udc41',
    );
    expect(RAW.test(escapeControls(HOSTILE))).to.equal(false);
  });

  it('keeps letters, symbols and emoji', () => {
    for (const text of ['', 'plain', 'Ünïcode 錠 🔒', 'עברית', 'e\u0301', '❤️'])
      expect(escapeControls(text)).to.equal(text);
  });

  it('stays equivalent JSON when the input is JSON', () => {
    const value = { [HOSTILE]: HOSTILE };
    expect(JSON.parse(escapeControls(JSON.stringify(value)))).to.deep.equal(value);
    expect(JSON.parse(quote(HOSTILE))).to.equal(HOSTILE);
  });

  it('is cut with an ellipsis, between characters', () => {
    expect(toPrintable('abcdef', 4)).to.equal('abc…');
    expect(toPrintable('ab🔒def', 4)).to.equal('ab…');
    expect(toPrintable('x'.repeat(900_000))).to.have.lengthOf(200);
  });

  it('is unchanged when it is made printable a second time', () => {
    for (const text of [HOSTILE, HOSTILE.repeat(20), '🔒'.repeat(200), '\uD83D'.repeat(300)])
      expect(toPrintable(toPrintable(text))).to.equal(toPrintable(text));
  });
});

describe('the message of an error', () => {
  it('is a single printable line even if it quotes control characters', () => {
    const { message } = new QueueLockError('UNAVAILABLE', `the server said ${HOSTILE.repeat(1_000)}`);
    expect(RAW.test(message)).to.equal(false);
    expect(message.length).to.be.below(10_000);
  });

  it('contains no unescaped control characters from the label of a client that evicts', () =>
    onStage(async (stage) => {
      const operator = stage.client({ owner: HOSTILE });
      const client = stage.client();
      const queued = {
        'a hold': client.run('x', untilStopped),
        'a wait': stage.client().acquire('x'),
      };
      const ends = Object.entries(queued).map(async ([what, end]) => [what, await rejection(end)] as const);
      await stage.settle();
      const entries = stage.server.queues().get('x') ?? [];
      expect(entries).to.have.lengthOf(2);
      for (const { key, order } of entries.toReversed())
        await stage.passing(operator.evict('x', { key, order, owner: HOSTILE }, { reason: HOSTILE }));
      for (const [what, error] of await stage.passing(Promise.all(ends))) {
        const { message } = error as Error;
        expect(message, what).to.contain('FORGED');
        expect(RAW.test(message), message).to.equal(false);
      }
    }));
});

describe('records of evictions', () => {
  const record = {
    entry: { key: 'k', order: '7', owner: 'o', id: 'i' },
    kind: 'evicted',
    by: 'an operator',
    reason: 'it hangs',
    at: 1_800_000_000_000,
  };

  it('have the same content after they were encoded and decoded', () => {
    const [read] = decodeRecords(JSON.stringify([record]));
    expect(read).to.deep.equal({ ...record, entry: { ...record.entry, order: 7n } });
  });

  it('are skipped one by one when they are invalid', () => {
    const { entry } = record;
    const wrong: readonly unknown[] = [
      null,
      7,
      'text',
      [],
      {},
      { ...record, at: 1e300 },
      { ...record, at: '2026' },
      { ...record, by: 7 },
      { ...record, reason: { toString: 'x' } },
      { ...record, kind: 'deleted' },
      { ...record, entry: null },
      { ...record, entry: { ...entry, order: 7 } },
      { ...record, entry: { ...entry, order: '0x7' } },
      { ...record, entry: { ...entry, order: '9'.repeat(1_000) } },
      { ...record, entry: { ...entry, key: undefined } },
      { ...record, entry: { ...entry, owner: 7 } },
    ];
    expect(decodeRecords(JSON.stringify([...wrong, record]))).to.have.lengthOf(1);
    for (const text of ['', '{', 'null', '7', '{"length":1}', '['.repeat(60_000)])
      expect(decodeRecords(text)).to.deep.equal([]);
  });

  it('have printable texts of a limited length', () => {
    const hostile = { ...record, by: HOSTILE, reason: HOSTILE.repeat(50) };
    const [{ by, reason } = { by: '', reason: '' }] = decodeRecords(JSON.stringify([hostile]));
    expect(RAW.test(by + reason)).to.equal(false);
    expect(reason).to.have.lengthOf(200);
  });
});
