// Folder "base": contains general-purpose tools that are independent of Consul.
// rx.ts (this file) exports the names that are imported from RxJS. lane.ts runs calls one after another.

export { Observable, Subject, Subscription, defer, filter, map } from 'rxjs';
