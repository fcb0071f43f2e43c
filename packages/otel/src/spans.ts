import {
  SpanStatusCode,
  context,
  type Attributes,
  type Context,
  type Exception,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { isQueueLockError, type AcquireMessage, type HoldMessage, type LockMessage } from '@queuelock/core';
import { Holders } from './holders.ts';
import { outcomeOf } from './outcome.ts';

interface Acquiring {
  readonly span: Span;
  /**
   * OpenTelemetry context of the caller of the acquisition. It is the parent of the span of the wait and of
   * the span of the hold, because the work under the lock belongs to the caller.
   */
  readonly parent: Context;
  readonly since: number;
}

/**
 * Records one span for each wait and one for each hold. If a waiter of this process waited for a hold of this
 * process, the span of the wait links to that hold.
 */
export class Spans {
  readonly #tracer: Tracer;
  readonly #classOf: (name: string) => string;
  readonly #acquiring = new Map<AcquireMessage, Acquiring>();
  readonly #parents = new WeakMap<AcquireMessage, Context>();
  readonly #holding = new Map<HoldMessage, Span>();
  readonly #holders = new Holders();

  constructor(tracer: Tracer, classOf: (name: string) => string) {
    this.#tracer = tracer;
    this.#classOf = classOf;
  }

  acquiring(message: AcquireMessage): void {
    const parent = context.active();
    const span = this.#start('acquire', message, parent);
    this.#acquiring.set(message, { span, parent, since: performance.now() });
    this.#parents.set(message, parent);
    this.#holders.waits(message);
  }

  acquired(message: AcquireMessage): void {
    const acquiring = this.#acquiring.get(message);
    if (!acquiring) return;
    this.#acquiring.delete(message);
    const { span, since } = acquiring;
    const outcome = outcomeOf(message);
    span.setAttributes({ 'queuelock.outcome': outcome, 'queuelock.waited': message.waited });
    const holder = this.#holders.hasWaited(message, since);
    if (holder && message.waited) span.addLink({ context: holder });
    if (outcome === 'timeout' || outcome === 'failed') blame(span, message.error);
    span.end();
  }

  holding(message: HoldMessage): void {
    const parent = this.#parents.get(message.acquire);
    if (!parent) return;
    const span = this.#start('hold', message, parent);
    span.setAttribute('queuelock.token', String(message.token));
    this.#holding.set(message, span);
    this.#holders.holds(message, span.spanContext());
  }

  held(message: HoldMessage): void {
    const span = this.#holding.get(message);
    if (!span) return;
    this.#holding.delete(message);
    this.#holders.hasHeld(message, span.spanContext());
    span.setAttribute('queuelock.outcome', message.outcome ?? 'released');
    if (message.outcome === 'lost') blame(span, message.error);
    span.end();
  }

  /** Ends all unfinished spans. */
  close(): void {
    for (const { span } of this.#acquiring.values()) span.end();
    for (const span of this.#holding.values()) span.end();
    this.#acquiring.clear();
    this.#holding.clear();
  }

  #start(what: 'acquire' | 'hold', message: LockMessage, parent: Context): Span {
    const { name, backend, shared, permits } = message;
    const lockClass = this.#classOf(name);
    const attributes: Attributes = {
      'queuelock.name': name,
      'queuelock.class': lockClass,
      'queuelock.backend': backend.name,
      'queuelock.endpoint': backend.endpoint,
      'queuelock.shared': shared,
      'queuelock.permits': permits,
    };
    return this.#tracer.startSpan(`${what} ${lockClass}`, { attributes }, parent);
  }
}

function blame(span: Span, error: unknown): void {
  const type = isQueueLockError(error) ? error.code : error instanceof Error ? error.name : '_OTHER';
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
  span.recordException(error as Exception);
}
