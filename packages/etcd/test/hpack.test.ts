import { expect } from 'chai';
import { HpackDecoder } from '../src/frames/hpack-decoder.ts';
import { HpackEncoder } from '../src/frames/hpack-encoder.ts';

type Headers = readonly (readonly [name: string, value: string])[];

/** Decodes a block of headers, which is given in hexadecimal. */
function decode(decoder: HpackDecoder, hex: string): Headers {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  const headers: [string, string][] = [];
  decoder.decode(
    { bytes, start: 0, end: bytes.length },
    { onHeader: (name, value) => headers.push([name, value]) },
  );
  return headers;
}

const GET = [':method', 'GET'] as const;
const HTTP = [':scheme', 'http'] as const;
const ROOT = [':path', '/'] as const;
const EXAMPLE = [':authority', 'www.example.com'] as const;
const REQUESTS: readonly Headers[] = [
  [GET, HTTP, ROOT, EXAMPLE],
  [GET, HTTP, ROOT, EXAMPLE, ['cache-control', 'no-cache']],
  [GET, [':scheme', 'https'], [':path', '/index.html'], EXAMPLE, ['custom-key', 'custom-value']],
];
const PRIVATE = ['cache-control', 'private'] as const;
const LOCATION = ['location', 'https://www.example.com'] as const;
const dated = (seconds: number): readonly [string, string] => [
  'date',
  `Mon, 21 Oct 2013 20:13:${seconds} GMT`,
];
const COOKIE = ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'] as const;
const RESPONSES: readonly Headers[] = [
  [[':status', '302'], PRIVATE, dated(21), LOCATION],
  [[':status', '307'], PRIVATE, dated(21), LOCATION],
  [[':status', '200'], PRIVATE, dated(22), LOCATION, ['content-encoding', 'gzip'], COOKIE],
];
/** A block without headers that limits the table to 256 bytes, as RFC 7541 assumes in its examples of responses. */
const LIMIT_256 = '3fe101';

describe('the decoder of HTTP/2 headers', () => {
  const single: readonly (readonly [section: string, hex: string, name: string, value: string])[] = [
    ['C.2.1', '400a637573746f6d2d6b65790d637573746f6d2d686561646572', 'custom-key', 'custom-header'],
    ['C.2.2', '040c2f73616d706c652f70617468', ':path', '/sample/path'],
    ['C.2.3', '100870617373776f726406736563726574', 'password', 'secret'],
    ['C.2.4', '82', ':method', 'GET'],
  ];
  for (const [section, hex, name, value] of single)
    it(`decodes the example ${section} of RFC 7541`, () => {
      expect(decode(new HpackDecoder(), hex)).to.deep.equal([[name, value]]);
    });

  const series: readonly (readonly [
    section: string,
    blocks: readonly string[],
    headers: readonly Headers[],
  ])[] = [
    [
      'C.3',
      [
        '828684410f7777772e6578616d706c652e636f6d',
        '828684be58086e6f2d6361636865',
        '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
      ],
      REQUESTS,
    ],
    [
      'C.4',
      [
        '828684418cf1e3c2e5f23a6ba0ab90f4ff',
        '828684be5886a8eb10649cbf',
        '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
      ],
      REQUESTS,
    ],
    [
      'C.5',
      [
        `${LIMIT_256}4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d`,
        '4803333037c1c0bf',
        '88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31',
      ],
      RESPONSES,
    ],
    [
      'C.6',
      [
        `${LIMIT_256}488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3`,
        '4883640effc1c0bf',
        '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
      ],
      RESPONSES,
    ],
  ];
  for (const [section, blocks, headers] of series)
    it(`decodes the three blocks of the example ${section} of RFC 7541, with their dynamic table`, () => {
      const decoder = new HpackDecoder();
      expect(blocks.map((block) => decode(decoder, block))).to.deep.equal(headers);
    });

  const invalid: readonly (readonly [what: string, hex: string])[] = [
    ['the index 0', '80'],
    ['an index beyond the table', 'be'],
    ['a name with an index beyond the table', '7f0001 61'],
    ['a block that ends in a number', 'ff'],
    ['a block that ends in a length', '0001 61'],
    ['a block that ends in a text', '000161 0562'],
    ['a number of more than 32 bits', 'ffffffffffffffffff7f'],
    ['a table that is larger than permitted', '3fe21f'],
    ['a change of the table after a header', '8220'],
    ['the Huffman code of the end', '0001 61 84ffffffff'],
    ['a Huffman code with padding of eight bits', '000161 821fff'],
    ['a Huffman code with padding that is not ones', '000161 8118'],
  ];
  for (const [what, hex] of invalid)
    it(`refuses ${what}`, () => {
      expect(() => decode(new HpackDecoder(), hex)).to.throw(/\(COMPRESSION_ERROR\)/);
    });

  it('refuses headers of more than 64 kB, although a few bytes refer to them', () => {
    const decoder = new HpackDecoder();
    decode(decoder, `4001617f811e${'62'.repeat(3_968)}`);
    expect(() => decode(decoder, 'be'.repeat(30))).to.throw(/65536 bytes \(ENHANCE_YOUR_CALM\)/);
  });

  it('drops the oldest headers when the table is full, and all headers when its limit is 0', () => {
    const decoder = new HpackDecoder();
    for (let i = 0; i < 300; i += 1)
      decode(decoder, `40017803${Buffer.from(String(100 + i)).toString('hex')}`);
    // Each header counts as 36 bytes, so the table of 4,096 bytes has room for 113 headers.
    expect(decode(decoder, 'be')).to.deep.equal([['x', '399']]);
    expect(decode(decoder, 'ff2f')).to.deep.equal([['x', '287']]);
    expect(() => decode(new HpackDecoder(), 'ff30')).to.throw(/unknown index/);
    decode(decoder, '20');
    expect(() => decode(decoder, 'be')).to.throw(/unknown index/);
  });
});

describe('the encoder of HTTP/2 headers', () => {
  const headers = {
    ':method': 'POST',
    ':scheme': 'http',
    ':authority': 'h:2379',
    'content-type': 'application/grpc',
    te: 'trailers',
    ':path': '/etcdserverpb.KV/Txn',
    token: 'secret.1',
  };
  const sorted = Object.entries(headers).toSorted(
    ([a], [b]) => Number(b.startsWith(':')) - Number(a.startsWith(':')),
  );
  const hex = (block: Buffer): string => block.toString('hex');

  it('writes pseudo-headers first, and uses fewer bytes for headers that it has written before', () => {
    const [encoder, decoder] = [new HpackEncoder(), new HpackDecoder()];
    const blocks = [encoder.encode(headers), encoder.encode(headers), encoder.encode({ ...headers })];
    for (const block of blocks) expect(decode(decoder, hex(block))).to.deep.equal(sorted);
    expect(blocks[1]!.length).to.be.lessThan(blocks[0]!.length - 30);
    expect(blocks[2]).to.deep.equal(blocks[1]);
  });

  it('encodes an object of headers only once when it is sent repeatedly', () => {
    const encoder = new HpackEncoder();
    encoder.encode(headers);
    expect(encoder.encode(headers)).to.equal(encoder.encode(headers));
  });

  it('encodes an object of headers again after other headers have entered the table', () => {
    const [encoder, decoder] = [new HpackEncoder(), new HpackDecoder()];
    const first = { ':method': 'POST', 'x-a': '1' };
    const second = { ':method': 'POST', 'x-b': '2' };
    for (const request of [first, first, second, first, second, first])
      expect(decode(decoder, hex(encoder.encode(request)))).to.deep.equal(Object.entries(request));
  });

  it('never lets the auth token enter the table of headers', () => {
    const encoder = new HpackEncoder();
    for (let i = 0; i < 3; i += 1) {
      // The byte 0x10 precedes the literal name of a header that must not enter a table.
      expect(hex(encoder.encode(headers))).to.include(`1005${Buffer.from('token').toString('hex')}08`);
    }
  });

  for (const size of [0, 40, 100, 300, 70_000])
    it(`obeys a peer that limits the table to ${size} bytes, and announces it`, () => {
      const [encoder, decoder] = [new HpackEncoder(), new HpackDecoder()];
      decode(decoder, hex(encoder.encode(headers)));
      encoder.limitTable(size);
      const blocks = [encoder.encode(headers), encoder.encode(headers), encoder.encode(headers)];
      if (size < 4_096) expect(hex(blocks[0]!)).to.match(/^20[23]/);
      for (const block of blocks) expect(decode(decoder, hex(block))).to.deep.equal(sorted);
    });

  it('encodes values of more than 127 bytes', () => {
    const long = { ...headers, token: 't'.repeat(20_000) };
    const block = new HpackEncoder().encode(long);
    expect(decode(new HpackDecoder(), hex(block))).to.deep.include(['token', long.token]);
  });
});
