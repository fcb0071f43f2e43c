// All imports of RxJS go through this file, so that it lists the operators that this package uses.
export { EMPTY, Observable, Subject, concatMap, defer, distinctUntilChanged, finalize, timer } from 'rxjs';
