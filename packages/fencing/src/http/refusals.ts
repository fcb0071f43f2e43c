import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FencingGate, FencingRefusal, FencingTarget } from './gate.ts';
import { FENCING_TOKEN, printToken, type HeaderGetter } from './headers.ts';

/** Returns the response for a refused request: the status, the reason as text, and for 412 the largest token in a header. */
export function refusalResponse(refusal: FencingRefusal): Response {
  const { status, headers, body } = partsOf(refusal);
  return new Response(body, { status, headers });
}

/** Writes the response of {@link refusalResponse} to a response of `node:http`. */
export function sendRefusal(response: ServerResponse, refusal: FencingRefusal): void {
  const { status, headers, body } = partsOf(refusal);
  response.writeHead(status, headers).end(body);
}

/**
 * Runs {@link FencingGate.check} for a `Request`.
 * @returns the response to send instead of serving the request, or `undefined` if the request was accepted
 */
export async function refuseRequest(
  gate: FencingGate,
  request: Request,
  target?: FencingTarget,
): Promise<Response | undefined> {
  const decision = await gate.check((name) => request.headers.get(name), target);
  return decision.outcome === 'accepted' ? undefined : refusalResponse(decision);
}

/** Returns the getter of headers that a {@link FencingGate} needs, for a request of `node:http`. */
export function headersOf(request: IncomingMessage): HeaderGetter {
  return (name) => request.headers[name];
}

function partsOf(refusal: FencingRefusal): {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
} {
  const headers: Record<string, string> = { 'content-type': 'text/plain; charset=utf-8' };
  if (refusal.outcome === 'refused') headers[FENCING_TOKEN] = printToken(refusal.largest);
  return { status: refusal.status, headers, body: `${refusal.reason}\n` };
}
