import { inputs } from '@queuelock/harness/fuzz/mutations';
import { expect } from 'chai';
import fc from 'fast-check';

const CORPUS = [Buffer.from('{"a":[1,{"b":"text"}],"__proto__":null}'), Buffer.from('[]')];

describe('the inputs of the fuzzer', () => {
  it('are the same for the same seed, and differ for another', () => {
    const of = (seed: number): string[] =>
      fc.sample(inputs(CORPUS, true), { numRuns: 50, seed }).map((input) => input.toString('base64'));
    expect(of(1)).to.deep.equal(of(1));
    expect(of(1)).not.to.deep.equal(of(2));
  });

  it('are generated from any JSON example, even one with members such as __proto__', () => {
    const corpus = [Buffer.from('[[1,2],{"__proto__":1,"toJSON":2,"length":3}]')];
    fc.assert(
      fc.property(inputs(corpus, true), (input) => Buffer.isBuffer(input)),
      { numRuns: 3_000, seed: 1 },
    );
  });

  it('contain valid examples, JSON with other values, and bytes that are no JSON', () => {
    const texts = fc.sample(inputs(CORPUS, true), { numRuns: 500, seed: 1 }).map(String);
    const isJson = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    expect(texts.filter(isJson).length).to.be.within(100, 450);
    expect(texts).to.include('[]');
  });
});
