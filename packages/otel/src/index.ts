export { instrumentLocks, type InstrumentOptions } from './instrument.ts';
export { classOfName } from './class-of.ts';
