// All runtime imports of RxJS go through this file, so that it lists the operators that this package uses.
export { throwError } from 'rxjs';
