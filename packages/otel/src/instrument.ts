import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  metrics as globalMetrics,
  trace as globalTrace,
  type MeterProvider,
  type TracerProvider,
} from '@opentelemetry/api';
import { CHANNELS, type AcquireMessage, type HoldMessage } from '@queuelock/core';
import { classOfName } from './class-of.ts';
import { Metrics } from './metrics.ts';
import { Spans } from './spans.ts';

const SCOPE = '@queuelock/otel';

/** How locks are told to OpenTelemetry. */
export interface InstrumentOptions {
  /**
   * The class of a lock: the only label of the metrics, and part of the names of spans, so there should be few of them. Default `classOfName`:
   * the name up to its last `/`. Names that have an id in them and no such `/` need a rule of their own.
   */
  readonly classOf?: (name: string) => string;
  /** Default: the global one, as of the call. */
  readonly tracerProvider?: TracerProvider;
  /** Default: the global one, as of the call. */
  readonly meterProvider?: MeterProvider;
}

/**
 * From now on tells the acquisitions and holds of all lock clients of this process as spans and metrics: of what begins after the call.
 * Call it once, after the SDK was set up.
 * @returns ends it; what is under way then is told no more, and its spans end there.
 */
export function instrumentLocks(options: InstrumentOptions = {}): () => void {
  const { classOf = classOfName, tracerProvider, meterProvider } = options;
  const spans = new Spans((tracerProvider ?? globalTrace).getTracer(SCOPE), classOf);
  const metrics = new Metrics((meterProvider ?? globalMetrics).getMeter(SCOPE), classOf);
  const listeners = [
    listen(`tracing:${CHANNELS.acquire}:start`, (message) => {
      spans.acquiring(message as AcquireMessage);
      metrics.acquiring(message as AcquireMessage);
    }),
    listen(`tracing:${CHANNELS.acquire}:asyncEnd`, (message) => {
      spans.acquired(message as AcquireMessage);
      metrics.acquired(message as AcquireMessage);
    }),
    listen(`tracing:${CHANNELS.hold}:start`, (message) => {
      spans.holding(message as HoldMessage);
      metrics.holding(message as HoldMessage);
    }),
    listen(`tracing:${CHANNELS.hold}:asyncEnd`, (message) => {
      spans.held(message as HoldMessage);
      metrics.held(message as HoldMessage);
    }),
  ];
  return () => {
    for (const end of listeners) end();
    spans.close();
    metrics.close();
  };
}

function listen(name: string, hear: (message: unknown) => void): () => void {
  subscribe(name, hear);
  return () => {
    unsubscribe(name, hear);
  };
}
