import { timingSafeEqual } from 'node:crypto';
import { Refused } from './refusal.ts';
import { TOKEN_HEADER } from './wire.ts';

/** The allowed hosts and the token, against which requests are checked. */
export interface GuardRules {
  readonly allowedHosts: readonly string[];
  readonly token: string;
}

/**
 * Refuses a `Host` that is not allowed: a foreign name may resolve to the bridge's address (DNS rebinding).
 * Returns the host of the request.
 * @throws {Refused} 403.
 */
export function checkHost(
  { headers, url }: Request,
  { allowedHosts }: Pick<GuardRules, 'allowedHosts'>,
): string {
  const host = (headers.get('host') ?? new URL(url).host).toLowerCase();
  const name = host.replace(/:\d*$/, '');
  if (!allowedHosts.includes(name))
    throw denied(
      'the Host of the request is not among the allowed hosts of the bridge (its option allowedHosts)',
    );
  return host;
}

/**
 * Refuses requests that no page of this bridge can have sent: those whose headers name another `Host`,
 * another `Origin`, or a foreign site in `Sec-Fetch-Site`. Programs other than browsers send neither `Origin`
 * nor `Sec-Fetch-Site`.
 * @throws {Refused} 403.
 */
export function checkSource(request: Request, rules: GuardRules): void {
  const host = checkHost(request, rules);
  const { headers, method } = request;
  const origin = headers.get('origin');
  if (origin !== null && originHost(origin) !== host) throw denied('requests of another origin are refused');
  const site = headers.get('sec-fetch-site') ?? 'same-origin';
  if (site !== 'same-origin' && !(site === 'none' && method === 'GET'))
    throw denied('requests of another site are refused');
}

/**
 * Refuses a request that changes something, unless it has the bridge's token. Only a page that can read the
 * bridge's responses has the token. The required headers, for the token and for `application/json`, also make
 * browsers send a preflight request from other sites.
 * @throws {Refused} 403 or 415.
 */
export function checkWrite({ headers }: Request, { token }: GuardRules): void {
  if (!/^application\/json\b/i.test(headers.get('content-type') ?? ''))
    throw new Refused(415, 'INVALID_ARGUMENT', 'content-type must be application/json');
  const received = Buffer.from(headers.get(TOKEN_HEADER) ?? '');
  const expected = Buffer.from(token);
  if (received.length !== expected.length || !timingSafeEqual(received, expected))
    throw denied(
      `the header ${TOKEN_HEADER} is missing or belongs to another bridge; request the facts again`,
    );
}

function denied(message: string): Refused {
  return new Refused(403, 'ACCESS_DENIED', message);
}

function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
