import { expect } from 'chai';
import { checkSource, checkWrite } from '../src/guard.ts';
import { TOKEN_HEADER } from '../src/wire.ts';
import { stage } from './stage.ts';

const rules = { allowedHosts: ['localhost', '127.0.0.1', '[::1]'], token: 'a-token' };

function request(headers: Record<string, string>, method = 'POST'): Request {
  return new Request('http://localhost:8080/queuelock/v2/evict', { method, headers });
}

describe('the guard against foreign requests', () => {
  const fromHere = [
    { host: 'localhost:8080' },
    { host: '127.0.0.1:8080', origin: 'http://127.0.0.1:8080' },
    { host: '[::1]:8080', origin: 'http://[::1]:8080', 'sec-fetch-site': 'same-origin' },
    { host: 'LOCALHOST:8080', origin: 'https://localhost:8080' },
  ];
  for (const headers of fromHere) {
    it(`allows a request of the bridge's own page or of a program: ${JSON.stringify(headers)}`, () => {
      checkSource(request(headers), rules);
    });
  }

  const fromElsewhere = [
    [{ host: 'rebound.example:8080' }, /allowed hosts of the bridge \(its option allowedHosts\)/],
    [
      { host: 'rebound.example:8080', origin: 'http://rebound.example:8080' },
      /allowed hosts of the bridge \(its option allowedHosts\)/,
    ],
    [{ host: 'localhost.rebound.example' }, /allowed hosts of the bridge \(its option allowedHosts\)/],
    [{ host: 'localhost:8080', origin: 'http://evil.example' }, /another origin/],
    [{ host: 'localhost:8080', origin: 'http://localhost:9090' }, /another origin/],
    [{ host: 'localhost:8080', origin: 'null' }, /another origin/],
    [{ host: 'localhost:8080', 'sec-fetch-site': 'cross-site' }, /another site/],
    [{ host: 'localhost:8080', 'sec-fetch-site': 'same-site' }, /another site/],
    [{ host: 'localhost:8080', 'sec-fetch-site': 'none' }, /another site/],
  ] as const;
  for (const [headers, why] of fromElsewhere) {
    it(`refuses a request from another site: ${JSON.stringify(headers)}`, () => {
      expect(() => checkSource(request(headers), rules)).to.throw(why);
    });
  }

  it('allows a request for a URL that a user typed into the browser', () => {
    checkSource(request({ host: 'localhost:8080', 'sec-fetch-site': 'none' }, 'GET'), rules);
  });

  it("refuses a write request without the bridge's token, or with the token of another bridge", () => {
    const json = { 'content-type': 'application/json' };
    for (const token of [{}, { [TOKEN_HEADER]: 'b-token' }, { [TOKEN_HEADER]: '' }])
      expect(() => checkWrite(request({ ...json, ...token }), rules)).to.throw(
        /ACCESS_DENIED.*queuelock-token/,
      );
    checkWrite(request({ ...json, [TOKEN_HEADER]: 'a-token' }), rules);
  });

  it('refuses a write request with a content type that an HTML form of another site can send', () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
      expect(() => checkWrite(request({ 'content-type': type, [TOKEN_HEADER]: 'a-token' }), rules)).to.throw(
        /application\/json/,
      );
  });
});

describe('a page that the bridge serves', () => {
  it("is served under allowed host names only, and never at a path of the bridge's own API", async () => {
    await using s = await stage();
    const handle = s.bridge.withPage(() => Promise.resolve(new Response('page')));
    const responseOf = async (path: string, host: string): Promise<readonly unknown[]> => {
      const response = await handle(new Request(`http://localhost${path}`, { headers: { host } }), {});
      return [response.status, (await response.text()).slice(0, 4)];
    };
    expect(await responseOf('/', 'localhost:80')).to.deep.equal([200, 'page']);
    expect(await responseOf('/', 'rebound.example')).to.deep.equal([403, '{"er']);
    expect(await responseOf('/queuelock/v2/nothing', 'localhost')).to.deep.equal([404, '{"er']);
  });
});
