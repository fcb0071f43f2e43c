// The parts of RxJS that this package uses.
export { tap } from 'rxjs';
