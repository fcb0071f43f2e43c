/** Throws the error for a missing member that the harness declared. */
export function lacks(member: string): never {
  throw new Error(`the harness says that the backend has ${member}, and it has not`);
}
