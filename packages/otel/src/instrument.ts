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

/** Settings of the instrumentation. */
export interface InstrumentOptions {
  /**
   * Returns the class of a lock. The class is the only attribute of the metrics and part of the names of
   * spans, so there should be few classes. Default: `classOfName`, which returns the name up to its last `/`.
   * If lock names contain an id before their last `/`, pass a function of your own.
   */
  readonly classOf?: (name: string) => string;
  /** Creates the tracer for the spans. Default: that of the global provider at the time of the call. */
  readonly tracerProvider?: TracerProvider;
  /** Creates the meter for the metrics. Default: that of the global provider at the time of the call. */
  readonly meterProvider?: MeterProvider;
}

/**
 * Records the acquisitions and holds of all lock clients of this process as OpenTelemetry spans and metrics.
 * Acquisitions and holds that began before the call are not recorded. Call it once, after the SDK was set up.
 * @returns a function that stops the recording. It ends unfinished spans, and records no metrics for
 * acquisitions and holds that have not ended
 * @example
 * const stop = instrumentLocks({ classOf: (name) => name.split('/')[0] ?? name });
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

function listen(name: string, receive: (message: unknown) => void): () => void {
  subscribe(name, receive);
  return () => {
    unsubscribe(name, receive);
  };
}
