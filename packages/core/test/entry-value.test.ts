import { expect } from 'chai';
import { decodeLabel, encodeLabel } from '../src/entry-value.ts';

describe('the label of an entry', () => {
  it('comes back as it was stored', () => {
    const label = { owner: 'billing "7" 🧾', metadata: { job: 'a\nb', run: '12' } };
    expect(decodeLabel(encodeLabel(label))).to.deep.equal(label);
  });

  for (const foreign of ['', '127.0.0.1', '{', '{"owner":7}', '[]', 'null', '{"a":1}']) {
    it(`takes the foreign value ${JSON.stringify(foreign)} as the owner`, () => {
      expect(decodeLabel(foreign)).to.deep.equal({ owner: foreign, metadata: {} });
    });
  }

  it('ignores metadata that is no text', () => {
    expect(decodeLabel('{"owner":"x","metadata":{"a":1,"b":"c"}}').metadata).to.deep.equal({ b: 'c' });
    expect(decodeLabel('{"owner":"x","metadata":null}').metadata).to.deep.equal({});
  });

  it('takes at most 1,024 bytes', () => {
    expect(() => encodeLabel({ owner: 'é'.repeat(600), metadata: {} })).to.throw('at most 1024 bytes');
  });
});
