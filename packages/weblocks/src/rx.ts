// All imports of RxJS go through this file, so that it lists the operators that this package uses.
export { filter, firstValueFrom, type Observable } from 'rxjs';
