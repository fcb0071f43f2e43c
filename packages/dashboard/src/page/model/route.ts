/**
 * The selected view. It is part of the page's address, after `#`, so that it can be bookmarked and works with
 * the back button.
 */
export type Route =
  | { readonly view: 'queues' }
  | { readonly view: 'queue'; readonly name: string }
  | { readonly view: 'elections' }
  | { readonly view: 'election'; readonly name: string }
  | { readonly view: 'sessions' }
  | { readonly view: 'deadlocks' }
  | { readonly view: 'faults' }
  | { readonly view: 'contenders'; readonly name: string };

/** The views that belong to no single queue, so that their address contains no name. */
export const VIEWS = ['queues', 'elections', 'sessions', 'deadlocks', 'faults'] as const;

/** Parses the part of the page's address after `#`. An unknown address selects the list of queues. */
export function routeOf(hash: string): Route {
  const [, view = '', name = ''] = /^#?\/?([^/]*)\/?(.*)$/su.exec(hash) ?? [];
  if (view === 'queue' || view === 'election' || view === 'contenders') {
    const decodedName = named(name);
    if (decodedName !== '') return { view, name: decodedName };
    return { view: view === 'election' ? 'elections' : 'queues' };
  }
  return { view: VIEWS.find((known) => known === view) ?? 'queues' };
}

/**
 * Formats the part of the page's address after `#`. A queue name in it may contain anything, also slashes and
 * lone surrogates.
 */
export function hashOf(route: Route): string {
  return 'name' in route ? `#/${route.view}/${encoded(route.name)}` : `#/${route.view}`;
}

// Escapes lone surrogates as `~d800`, because encodeURIComponent refuses them. The tilde is escaped in the same form.
function encoded(name: string): string {
  return name.replace(/[\s\S]/gu, (character) => {
    return character === '~' || /\p{Cs}/u.test(character)
      ? `~${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      : encodeURIComponent(character);
  });
}

/**
 * Decodes a queue name from the page's address. Returns an empty name for text that {@link hashOf} did not
 * create.
 */
function named(text: string): string {
  try {
    return decodeURIComponent(text).replace(/~([\da-f]{4})/g, (_all, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  } catch {
    // Ignores an address with an invalid `%` sequence, which a user may have typed.
    return '';
  }
}
