// The one door to RxJS: these names are the vocabulary of this package.
export { BehaviorSubject, Observable, Subject, Subscription, defer, filter, map, merge, of } from 'rxjs';
