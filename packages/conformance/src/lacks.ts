/** The harness promised a member that is not there. */
export function lacks(member: string): never {
  throw new Error(`the harness says that the backend has ${member}, and it has not`);
}
