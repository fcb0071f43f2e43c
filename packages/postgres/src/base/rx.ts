// The only import of RxJS in this package: all other files import these names from here.
export { EMPTY, Observable, Subject, concatMap, defer, distinctUntilChanged, finalize, timer } from 'rxjs';
