import type { Observable, Subscription } from 'rxjs';

/** Subscribes to a stream that never errors. An error would be a defect, and is thrown as uncaught. */
export function follow<T>(
  values$: Observable<T>,
  next: (value: T) => void,
  complete?: () => void,
): Subscription {
  return values$.subscribe({
    next,
    error(defect: unknown) {
      queueMicrotask(() => {
        throw defect;
      });
    },
    complete() {
      complete?.();
    },
  });
}
