import { expect } from 'chai';
import { decodeLabel, encodeLabel, labelFromOwner, labelOfOwner } from '../src/entry/entry-value.ts';

const NOTHING_ELSE = { permits: 1, limit: 1, holds: [], heard: [], answers: [] };

describe('the label of an entry', () => {
  it('is decoded to the data from which it was encoded', () => {
    const label = {
      owner: 'billing "7" 🧾',
      metadata: { job: 'a\nb', run: '12' },
      id: '0'.repeat(32),
      host: 'web-1',
      pid: 12,
      instance: '0123456789ab',
      since: 1_800_000_000_000,
      permits: 2,
      limit: 5,
      holds: ['1'.repeat(32)],
      typicalHoldMs: 40,
      request: { reason: 'a deployment', withinMs: 5_000 },
      heard: ['2'.repeat(32)],
      answers: [{ to: '3'.repeat(32), answer: { answer: 'declined', reason: 'not now' } as const }],
    };
    expect(decodeLabel(encodeLabel(label))).to.deep.equal(label);
  });

  it('stores no empty members', () => {
    expect(encodeLabel({ owner: 'x', metadata: {}, holds: [] })).to.equal('{"owner":"x"}');
  });

  for (const foreign of ['', '127.0.0.1', '{', '{"owner":7}', '[]', 'null', '{"a":1}']) {
    it(`names the whole value as the owner when another program stored ${JSON.stringify(foreign)}`, () => {
      expect(decodeLabel(foreign)).to.deep.equal({ owner: foreign, metadata: {}, ...NOTHING_ELSE });
    });
  }

  it('is decoded without members of a wrong type', () => {
    const odd =
      '{"owner":"x","metadata":{"a":1,"b":"c"},"pid":"7","holds":[1,"2"],"request":{"reason":1},"answers":[{}]}';
    expect(decodeLabel(odd)).to.deep.equal({
      owner: 'x',
      metadata: { b: 'c' },
      ...NOTHING_ELSE,
      holds: ['2'],
    });
    expect(decodeLabel('{"owner":"x","metadata":null}').metadata).to.deep.equal({});
  });

  it('is decoded without numbers outside the range that queuelock allows', () => {
    const numbers = { pid: -1, since: 1e300, typicalHoldMs: -5, permits: 1e308, limit: 1.5 };
    const request = { reason: 'r', withinMs: -1 };
    expect(decodeLabel(JSON.stringify({ owner: 'x', ...numbers, request }))).to.deep.equal({
      owner: 'x',
      metadata: {},
      ...NOTHING_ELSE,
    });
  });

  it('is decoded to at most 9,000 characters, even if another client has stored more', () => {
    const long = 'x'.repeat(900_000);
    for (const value of [
      long,
      JSON.stringify({ owner: long }),
      JSON.stringify({ owner: 'x', metadata: { long } }),
    ])
      expect(JSON.stringify(decodeLabel(value)).length).to.be.below(9_000);
  });

  it('is decoded to the same data with and without the member `owned`', () => {
    const label = encodeLabel({ owner: 'x', metadata: { a: 'b' }, request: { reason: 'r', withinMs: 1 } });
    const noted = labelOfOwner(label) ?? '';
    expect(labelFromOwner(noted)).to.equal(label);
    expect(decodeLabel(noted)).to.deep.equal(decodeLabel(label));
    expect(labelFromOwner(label)).to.equal(undefined);
    expect(labelFromOwner(encodeLabel({ owner: 'x', metadata: { owned: 'true' } }))).to.equal(undefined);
  });

  it('gets no member `owned` if another program wrote the label', () => {
    for (const foreign of ['', '127.0.0.1', '{', '[]', '{"owner":7}', '{"owned":true}', '{"owner":"x"} ']) {
      expect(labelOfOwner(foreign)).to.equal(undefined);
      expect(labelFromOwner(`${foreign.slice(0, -1)},"owned":true}`)).to.equal(undefined);
    }
  });

  it('drops old responses to handover requests first to stay within 2,048 bytes', () => {
    const answers = Array.from({ length: 4 }, (_, at) => ({
      to: String(at),
      answer: { answer: 'declined', reason: 'é'.repeat(200) } as const,
    }));
    const holds = Array.from({ length: 40 }, (_, at) => String(at).padStart(32, '0'));
    const reported = encodeLabel({ owner: 'o'.repeat(900), metadata: {}, answers, holds });
    expect(Buffer.byteLength(reported)).to.be.at.most(2_048);
    expect(decodeLabel(reported).answers).to.deep.equal([]);
    expect(decodeLabel(reported).holds).to.deep.equal(holds.slice(-decodeLabel(reported).holds.length)).and
      .not.empty;
  });
});
