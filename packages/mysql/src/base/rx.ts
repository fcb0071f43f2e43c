// Folder "base": contains general-purpose tools that are independent of MySQL.
// rx.ts (this file) is the only import of RxJS in this package. All other files import these names from here.
export { EMPTY, Observable, Subject, defer } from 'rxjs';
