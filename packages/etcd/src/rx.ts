// The one door to RxJS: these names are the vocabulary of this package.
export {
  EMPTY,
  Observable,
  Subject,
  catchError,
  defer,
  exhaustMap,
  filter,
  from,
  merge,
  of,
  repeat,
  switchMap,
  take,
  takeUntil,
  throwError,
  timer,
} from 'rxjs';
