import type { Observable, Subscription } from 'rxjs';

/** Subscribes to a stream that never errors. If one does, that is a defect, and is thrown where nobody catches it. */
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
