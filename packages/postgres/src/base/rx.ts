// The one door to RxJS: these names are the vocabulary of this package.
export { Observable, Subject, concatMap, defer, distinctUntilChanged, finalize, timer } from 'rxjs';
