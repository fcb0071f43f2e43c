// Chapter base: which tools know nothing of MySQL?
// The one door to RxJS: these names are the vocabulary of this package.
export { Observable, Subject, defer } from 'rxjs';
