// The one door to RxJS: these names are the vocabulary of this package.
export {
  EMPTY,
  Observable,
  ReplaySubject,
  Subject,
  catchError,
  filter,
  from,
  merge,
  of,
  repeat,
  switchMap,
  take,
  takeUntil,
  timer,
} from 'rxjs';
