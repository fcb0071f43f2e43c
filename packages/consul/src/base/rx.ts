// Chapter base: which general-purpose tools does this package use?
// The names that are imported from RxJS (here), and calls that run one after the other (lane).

export { Observable, Subject, Subscription, defer, filter, map } from 'rxjs';
