// The only module that imports RxJS. Its exports are all that this package uses.
export { Observable, defer, switchMap } from 'rxjs';
