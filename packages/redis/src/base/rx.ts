// The one door to RxJS: these names are the vocabulary of this package.
export { Observable, Subject, defer, finalize } from 'rxjs';
