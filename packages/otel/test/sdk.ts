import { AsyncLocalStorage } from 'node:async_hooks';
import { ROOT_CONTEXT, type Context, type ContextManager } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type DataPoint,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';

/** The count and the sum of a histogram. */
interface Summed {
  readonly count: number;
  readonly sum?: number | undefined;
}

/** Sets up the real OpenTelemetry SDK, and reads the spans and metrics that it received. */
export class Sdk {
  readonly #spans = new InMemorySpanExporter();
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#metrics,
    exportIntervalMillis: 3_600_000,
  });
  readonly tracerProvider: BasicTracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(this.#spans)],
  });
  readonly meterProvider: MeterProvider = new MeterProvider({ readers: [this.#reader] });

  get spans(): readonly ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  spanOf(name: string, at = 0): ReadableSpan {
    const span = this.spans.filter((one) => one.name === name)[at];
    if (!span) throw new Error(`no span ${name} among ${this.spans.map((one) => one.name).join(', ')}`);
    return span;
  }

  /**
   * Returns the values of all metrics by metric and class of the lock, for instance `queuelock.hold.lost
   * {invoices}`: 1. The value of a histogram is the pair of its count and its sum.
   */
  async metrics(): Promise<Readonly<Record<string, number | readonly [count: number, sum: number]>>> {
    const { resourceMetrics } = await this.#reader.collect();
    const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    return Object.fromEntries(
      metrics.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }: DataPoint<number | Summed>) => [
          `${descriptor.name} ${JSON.stringify(attributes)}`,
          typeof value === 'number' ? value : [value.count, value.sum ?? 0],
        ]),
      ),
    );
  }

  /** Returns the names of the Prometheus time series that OpenTelemetry's exporter writes. */
  async exported(): Promise<ReadonlySet<string>> {
    const { resourceMetrics } = await this.#reader.collect();
    const text = new PrometheusSerializer().serialize(resourceMetrics);
    return new Set(Array.from(text.matchAll(/^(queuelock_\w+)/gm), ([name]) => name));
  }

  async close(): Promise<void> {
    await this.tracerProvider.shutdown();
    await this.meterProvider.shutdown();
  }
}

/** Keeps the OpenTelemetry context of an async call chain, as an application's SDK does. */
export class ChainContext implements ContextManager {
  readonly #store = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#store.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    work: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#store.run(context, () => work.apply(self as ThisParameterType<F>, args));
  }

  bind<T>(_context: Context, target: T): T {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#store.disable();
    return this;
  }
}
