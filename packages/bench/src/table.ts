import { sizeText, type Cell, type Scenario } from './cells.ts';
import { ratio, type Result, type Results } from './results.ts';
import { medians } from './stats.ts';

/** Formats a table as text: the first column is aligned to the left, the others to the right. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)));
  const line = (row: readonly string[]): string =>
    widths
      .map((width, i) => pad(row[i] ?? '', width, i === 0))
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

function pad(text: string, width: number, left: boolean): string {
  return left ? text.padEnd(width) : text.padStart(width);
}

interface Column {
  readonly key: string;
  readonly label: string;
}

const US = 'us';
const CYCLE: readonly Column[] = [
  { key: 'p50', label: `p50 ${US}` },
  { key: 'p99', label: `p99 ${US}` },
  { key: 'acquireP50', label: `acquire p50 ${US}` },
  { key: 'perSecond', label: 'per s' },
  { key: 'clientCpu', label: `client CPU ${US}` },
  { key: 'serverCpu', label: `server CPU ${US}` },
];
/**
 * Columns of the scenario `cold`: one for each range of cycle numbers, counted from the start of the process.
 */
const COLD: readonly Column[] = [
  { key: 'p50', label: `2,001-10,000 p50 ${US}` },
  { key: 'clientCpu', label: 'CPU' },
  { key: 'p50To2000', label: '501-2,000' },
  { key: 'cpuTo2000', label: 'CPU' },
  { key: 'p50To500', label: '101-500' },
  { key: 'cpuTo500', label: 'CPU' },
  { key: 'p50To100', label: '11-100' },
  { key: 'cpuTo100', label: 'CPU' },
  { key: 'p50To10', label: '2-10' },
  { key: 'cpuTo10', label: 'CPU' },
  { key: 'p50At1', label: 'first' },
  { key: 'cpuAt1', label: 'CPU' },
  { key: 'calls', label: 'calls' },
  { key: 'runCalls', label: 'calls of run' },
];
const HAND_OFF: readonly Column[] = [
  { key: 'p50', label: `p50 ${US}` },
  { key: 'p99', label: `p99 ${US}` },
  { key: 'totalMs', label: 'total ms' },
  { key: 'enqueueMs', label: 'enqueue ms' },
  { key: 'clientCpu', label: `client CPU ${US}` },
  { key: 'handOffCpuUs', label: `server CPU ${US}` },
  { key: 'enqueueCpuUs', label: '…per enqueue' },
  { key: 'handOffRequests', label: 'requests' },
  { key: 'handOffPackets', label: 'packets' },
  { key: 'handOffReads', label: 'reads' },
  { key: 'handOffEvents', label: 'events' },
  { key: 'handOffBytesIn', label: 'B in' },
  { key: 'handOffBytesOut', label: 'B out' },
];

/**
 * Table columns of each scenario. The ratios of two clients in a table compare their values in the scenario's
 * first column.
 */
const COLUMNS: Readonly<Record<Scenario, readonly Column[]>> = {
  call: CYCLE,
  cold: COLD,
  free: CYCLE,
  many: [{ key: 'perSecond', label: 'per s' }, ...CYCLE.filter(({ key }) => key !== 'perSecond')],
  drain: HAND_OFF,
  spread: HAND_OFF,
  sessions: HAND_OFF,
  'sessions-cold': HAND_OFF,
  fresh: [
    { key: 'mean', label: `mean ${US}` },
    { key: 'p50', label: `p50 ${US}` },
    { key: 'p99', label: `p99 ${US}` },
    { key: 'max', label: `max ${US}` },
    { key: 'over50ms', label: 'over 50 ms' },
    { key: 'handoffs', label: 'hand-offs' },
    { key: 'sameTwice', label: 'same twice' },
  ],
  mass: [
    { key: 'allKnowMs', label: 'all know, ms' },
    { key: 'answerMs', label: 'answer, ms' },
    { key: 'ratio', label: 'ratio' },
  ],
  idle: [{ key: 'requests', label: 'requests in two TTLs' }],
  memory: [
    { key: 'rssPerWait', label: 'RSS B/wait' },
    { key: 'heapPerWait', label: 'heap B/wait' },
    { key: 'rssMb', label: 'RSS MB' },
    { key: 'heapMb', label: 'heap MB' },
  ],
  start: [{ key: 'ms', label: 'ms' }],
};

/**
 * Returns the key of a scenario's first column. The report compares clients by their value in that column.
 */
export function mainKey(scenario: Scenario): string {
  return COLUMNS[scenario][0]?.key ?? '';
}

/** The best-known lock of each store, with which the tables compare queuelock. */
export const BEST_KNOWN_LOCKS: Readonly<Record<Cell['store'], string>> = {
  etcd: 'Go concurrency.Mutex',
  zookeeper: 'Curator InterProcessMutex',
  redis: 'redis-semaphore Mutex',
};

/**
 * Formats the results of a cell (one scenario at one size on one kind of server) as a table. Each client has
 * a row with its values. The row also has their ratios to the lower bound of its transport, and to the
 * store's best-known lock.
 */
export function cellTable(results: Results, cell: Cell): string {
  const rows = results.matching(cell).filter((result) => result.cell.noise === cell.noise);
  const shown = rows.map((result) => ({ result, values: medians(result.rounds) }));
  const columns = COLUMNS[cell.scenario].filter(({ key }) => shown.some(({ values }) => key in values));
  const head = [
    'client',
    ...columns.map(({ label }) => label),
    '/ floor',
    `/ ${BEST_KNOWN_LOCKS[cell.store]}`,
  ];
  const body = shown.map(({ result, values }) => [
    result.client,
    ...columns.map(({ key }) => numberText(values[key])),
    ...ratios(results, result),
  ]);
  const title = `${cell.store} on ${cell.medium}: ${cell.scenario}, ${sizeText(cell)}`;
  return `${title} (medians of ${rows[0]?.rounds.length ?? 0})\n${textTable(head, body)}`;
}

function ratios(results: Results, { cell, client, transport, kind }: Result): string[] {
  const key = mainKey(cell.scenario);
  const own = results.value({ ...cell, client }, key);
  const floor = kind === 'floor' ? undefined : results.value({ ...cell, transport, kind: 'floor' }, key);
  const competitor =
    BEST_KNOWN_LOCKS[cell.store] === client
      ? undefined
      : results.value({ ...cell, client: BEST_KNOWN_LOCKS[cell.store] }, key);
  return [ratioText(ratio(own, floor)), ratioText(ratio(own, competitor))];
}

/** Formats a number to three significant digits, or as a dash if there is none. */
export function numberText(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '-';
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function ratioText(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? '-' : `${value.toFixed(2)}x`;
}
