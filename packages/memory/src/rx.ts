// The one door to RxJS: these names are the vocabulary of this package.
export { BehaviorSubject, Observable, Subject, Subscription } from 'rxjs';
