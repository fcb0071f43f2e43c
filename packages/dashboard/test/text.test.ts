import { expect } from 'chai';
import { count, counted, duration, ordinal, plain, rate, seconds, short } from '../src/page/model/text.ts';

describe('text formats of the dashboard', () => {
  it('show a duration in its two largest units', () => {
    const texts = [-5, 0, 350, 4_200, 9_949, 9_950, 185_000, 7_620_000, 1_051_200_000, Infinity].map(
      duration,
    );
    expect(texts).to.deep.equal([
      '0ms',
      '0ms',
      '350ms',
      '4.2s',
      '9.9s',
      '10s',
      '3m05s',
      '2h07m',
      '12d04h',
      '-',
    ]);
  });

  it('omit tenths from a duration that is updated every second', () => {
    expect([-5, 999, 4_900, 12_300, 185_000].map(seconds)).to.deep.equal(['0s', '0s', '4s', '12s', '3m05s']);
  });

  it('show a count with commas, and a rate with one decimal until it is large', () => {
    expect([count(7), count(1_234_567)]).to.deep.equal(['7', '1,234,567']);
    expect([counted(1, 'entry', 'entries'), counted(2, 'queue')]).to.deep.equal(['1 entry', '2 queues']);
    expect([0, 41.25, 99.94, 12_345.6].map(rate)).to.deep.equal(['0.0', '41.3', '99.9', '12,346']);
  });

  it('show a position as an ordinal', () => {
    expect([1, 2, 3, 4, 11, 12, 13, 21, 102, 111, 1_003].map(ordinal)).to.deep.equal([
      '1st',
      '2nd',
      '3rd',
      '4th',
      '11th',
      '12th',
      '13th',
      '21st',
      '102nd',
      '111th',
      '1,003rd',
    ]);
  });

  it('escape characters that a screen would hide or reorder', () => {
    expect(plain('a\u202Eb\u0000\nc\uD800')).to.equal('a\\u{202e}b\\u{0}\\u{a}c\\u{d800}');
  });

  it('shorten a text only between characters, never inside an emoji', () => {
    expect([short('abc', 3), short('abcd', 3), short('a😀😀😀', 3)]).to.deep.equal(['abc', 'ab…', 'a😀…']);
  });
});
