export { QueuelockModule } from './queuelock-module.ts';
export type {
  LockClientSettings,
  QueuelockModuleAsyncOptions,
  QueuelockModuleOptions,
} from './module-options.ts';
export type { ShutdownOptions } from './shutdown-options.ts';
export { InjectLocks, getLockClientToken } from './tokens.ts';
export { Lock, currentLock, type LockContext, type LockOptions } from './lock.ts';
export type { MethodDecoratorOf } from './decorated-method.ts';
export { Leads, type LeadsOptions } from './leads.ts';
export { QueuelockHealthIndicator, type LockHealthDetails } from './health-indicator.ts';
export {
  QueuelockExceptionFilter,
  queuelockExceptionFilter,
  type ExceptionFilterOptions,
} from './exception-filter.ts';
