// The folder base answers: which general-purpose tools does this package use?
// The names that are imported from RxJS (this file), and calls that run one after the other (lane.ts).

export { Observable, Subject, Subscription, defer, filter, map } from 'rxjs';
