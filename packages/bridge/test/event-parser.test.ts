import { expect } from 'chai';
import fc from 'fast-check';
import { EventParser } from '../src/client/event-parser.ts';

function parse(...pieces: readonly string[]): unknown[] {
  const parser = new EventParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

describe('the parser of server-sent events', () => {
  it('reads type, id and data, and ignores comments', () => {
    expect(parse(':\n\nid: e.1\nevent: state\ndata: {}\n\n: more\nretry: 10\n\n')).to.deep.equal([
      { type: 'state', id: 'e.1', data: '{}' },
    ]);
  });

  it('accepts every kind of line end, and keeps the event id for later events', () => {
    expect(parse('id:7\r\ndata:a\r\ndata: b\r\n\r\ndata:  c\n\n')).to.deep.equal([
      { type: 'message', id: '7', data: 'a\nb' },
      { type: 'message', id: '7', data: ' c' },
    ]);
  });

  const MIB = 1024 * 1024;

  it('rejects an event of more than 16 Mi characters, in one line or in many', () => {
    const why = `an event of the stream is longer than ${16 * MIB} characters`;
    for (const line of ['x'.repeat(MIB), `data: ${'x'.repeat(MIB)}\n`]) {
      const parser = new EventParser();
      for (let fed = 0; fed < 15; fed += 1) parser.push(line);
      expect(() => parser.push(line.repeat(2))).to.throw(why);
    }
  });

  it('reads a long line in time that grows in proportion to its length', () => {
    const parser = new EventParser();
    const begunAt = performance.now();
    parser.push('data: ');
    for (let fed = 0; fed < 8_000; fed += 1) parser.push('x'.repeat(1_024));
    const [event] = parser.push('\n\n');
    expect(event?.data).to.have.lengthOf(8_000 * 1_024);
    // This line of 8 MB arrives in 8,000 pieces. A parser that searched the whole line again after each piece
    // would take 30 s.
    expect(performance.now() - begunAt).to.be.below(5_000);
  });

  it('returns the same events however the stream is split into pieces', () => {
    const stream =
      'retry: 1000\nevent: hello\ndata: {"now":1}\n\n:\n\nid: e.2\nevent: state\ndata: {"a":"\\n:x"}\n\n';
    const whole = parse(stream);
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length)), (cuts) => {
        const ends = [...cuts, 0, stream.length].sort((a, b) => a - b);
        const pieces = ends.slice(1).map((end, at) => stream.slice(ends[at], end));
        expect(parse(...pieces)).to.deep.equal(whole);
      }),
    );
  });
});
