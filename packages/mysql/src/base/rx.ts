// The folder base answers: which tools are independent of MySQL?
// The only import of RxJS in this package: all other files import these names from here.
export { EMPTY, Observable, Subject, defer } from 'rxjs';
