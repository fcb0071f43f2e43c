export { onePerKey } from './one-per-key.ts';
export type { KeyedJob, KeyedProcessor, KeyedWork, OnePerKeyOptions } from './one-per-key-api.ts';
