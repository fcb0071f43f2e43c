// The one door to RxJS: these names are the vocabulary of this package.
export { filter, firstValueFrom, type Observable } from 'rxjs';
