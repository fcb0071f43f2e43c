import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FencingGate, FencingRefusal, FencingTarget } from './gate.ts';
import { FENCING_TOKEN, printToken, type HeaderGetter } from './headers.ts';

/** The answer for a refused request: its status, the reason as text, and with 412 the largest token in the header. */
export function refusalResponse(refusal: FencingRefusal): Response {
  const { status, headers, body } = answerTo(refusal);
  return new Response(body, { status, headers });
}

/** As {@link refusalResponse}, into the response of `node:http`. */
export function sendRefusal(response: ServerResponse, refusal: FencingRefusal): void {
  const { status, headers, body } = answerTo(refusal);
  response.writeHead(status, headers).end(body);
}

/** {@link FencingGate.check} for a `Request`: the answer to give instead of serving it, or `undefined`. */
export async function refuseRequest(
  gate: FencingGate,
  request: Request,
  target?: FencingTarget,
): Promise<Response | undefined> {
  const decision = await gate.check((name) => request.headers.get(name), target);
  return decision.outcome === 'accepted' ? undefined : refusalResponse(decision);
}

/** The headers of a request of `node:http`, for a {@link FencingGate}. */
export function headersOf(request: IncomingMessage): HeaderGetter {
  return (name) => request.headers[name];
}

function answerTo(refusal: FencingRefusal): {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
} {
  const headers: Record<string, string> = { 'content-type': 'text/plain; charset=utf-8' };
  if (refusal.outcome === 'refused') headers[FENCING_TOKEN] = printToken(refusal.largest);
  return { status: refusal.status, headers, body: `${refusal.reason}\n` };
}
