/** Returns an object with the member `key`, or an empty object when `value` is `undefined`. */
export function ifDefined<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}
