// All imports of RxJS go through this file, so that it lists the operators that this package uses.
export { Observable, Subject, type Subscriber, Subscription, defer, filter, map, merge, of } from 'rxjs';
