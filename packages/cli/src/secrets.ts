/** Shorter ones would blot out half of a message, and protect nothing. */
const SHORTEST = 3;

const known = new Set<string>();

/** From now on {@link redact} takes this text out of everything that is printed, also in its form for URLs. */
export function keepSecret(secret: string): void {
  if (secret.length < SHORTEST) return;
  known.add(secret);
  known.add(encodeURIComponent(secret));
}

/** Takes user and password out of every URL in a text, and every secret that was read. */
export function redact(text: string): string {
  const withoutUsers = text.replace(/:\/\/[^\s"']*@/g, '://');
  return [...known].reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), withoutUsers);
}

/**
 * Takes passwords of URLs out of what `ps` shows of this process. Until it runs they can be read, and shells keep a history: a
 * password is better in a file or in the environment.
 */
export function hideArguments(argv: readonly string[]): void {
  const shown = argv.map(redact);
  if (shown.some((text, at) => text !== argv[at])) process.title = shown.join(' ');
}
