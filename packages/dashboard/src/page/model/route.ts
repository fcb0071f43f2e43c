/** What the page shows; it stands in the address after `#`, so that it can be bookmarked and gone back to. */
export type Route =
  | { readonly view: 'queues' }
  | { readonly view: 'queue'; readonly name: string }
  | { readonly view: 'elections' }
  | { readonly view: 'election'; readonly name: string }
  | { readonly view: 'sessions' }
  | { readonly view: 'deadlocks' }
  | { readonly view: 'faults' }
  | { readonly view: 'contenders'; readonly name: string };

/** The views that have no name in them. */
export const VIEWS = ['queues', 'elections', 'sessions', 'deadlocks', 'faults'] as const;

/** From an address; what is not understood is the list of queues. */
export function routeOf(hash: string): Route {
  const [, view = '', name = ''] = /^#?\/?([^/]*)\/?(.*)$/su.exec(hash) ?? [];
  if (view === 'queue' || view === 'election' || view === 'contenders') {
    const wanted = named(name);
    if (wanted !== '') return { view, name: wanted };
    return { view: view === 'election' ? 'elections' : 'queues' };
  }
  return { view: VIEWS.find((known) => known === view) ?? 'queues' };
}

/** To an address. A name may hold anything, also slashes and halves of characters. */
export function hashOf(route: Route): string {
  return 'name' in route ? `#/${route.view}/${encoded(route.name)}` : `#/${route.view}`;
}

// encodeURIComponent refuses lone surrogates, which names may have: they are written as `~d800`, and so is the tilde.
function encoded(name: string): string {
  return name.replace(/[\s\S]/gu, (character) => {
    return character === '~' || /\p{Cs}/u.test(character)
      ? `~${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      : encodeURIComponent(character);
  });
}

/** Empty where it was not made by {@link hashOf}. */
function named(text: string): string {
  try {
    return decodeURIComponent(text).replace(/~([\da-f]{4})/g, (_all, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  } catch {
    // Typed by hand, with a `%` that stands for nothing.
    return '';
  }
}
