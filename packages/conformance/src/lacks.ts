/** Throws an error: the harness declares an optional member that the backend does not have. */
export function lacks(member: string): never {
  throw new Error(`the harness says that the backend has ${member}, and it has not`);
}
