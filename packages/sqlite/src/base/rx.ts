// The one door to RxJS: these names are the vocabulary of this package.
export { Observable, defer, switchMap } from 'rxjs';
