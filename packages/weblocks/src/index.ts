export { createLockManager } from './manager.ts';
export type {
  HeldLock,
  LockGrantedCallback,
  LockInfo,
  LockManager,
  LockManagerOptions,
  LockManagerSnapshot,
  LockMode,
  LockOptions,
} from './api.ts';
