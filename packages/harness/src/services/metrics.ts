/** Samples of a metrics page by their full name, labels included: `grpc_server_started_total{grpc_method="Txn",...}`. */
export type Metrics = ReadonlyMap<string, number>;

/** Reads etcd's own counters: requests by method, watchers, leases, keys. */
export async function etcdMetrics(endpoint: string): Promise<Metrics> {
  const response = await fetch(`http://${endpoint}/metrics`, { signal: AbortSignal.timeout(5_000) });
  if (!response.ok) throw new Error(`etcd on ${endpoint} answers ${response.status} to /metrics`);
  return parseMetrics(await response.text());
}

/** Parses a page in the Prometheus text format, version 0.0.4 (prometheus.io, "Exposition formats"). */
export function parseMetrics(text: string): Metrics {
  const metrics = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, sample, value] = /^([a-zA-Z_:][\w:]*(?:\{.*\})?)\s+(\S+)/.exec(line) ?? [];
    if (sample !== undefined && value !== undefined) metrics.set(sample, toNumber(value));
  }
  return metrics;
}

/** Returns the sum of a metric over all samples with the labels `labels`. Returns 0 when there is none, because etcd omits zero counts. */
export function sumOf(metrics: Metrics, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  let sum = 0;
  for (const [sample, value] of metrics) {
    const [own, rest = ''] = sample.split(/\{(.*)\}$/);
    const has = [...rest.matchAll(/\w+="(?:[^"\\]|\\.)*"/g)].map(([label]) => label);
    if (own === name && wanted.every((label) => has.includes(label))) sum += value;
  }
  return sum;
}

function toNumber(text: string): number {
  return Number(text.replace(/^([+-]?)Inf$/, '$1Infinity'));
}
