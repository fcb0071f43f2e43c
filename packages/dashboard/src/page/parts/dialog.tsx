import { useId, useLayoutEffect, useRef, type ReactElement, type ReactNode } from 'react';

/** What a dialog takes. */
export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog over the page; the browser keeps the focus in it, closes it with Esc, and gives the focus back. */
export function Dialog({ title, onClose, children }: DialogProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before it is taken out of the page: only then does closing it give the focus back.
  useLayoutEffect(() => {
    const opened = dialog.current;
    if (opened && !opened.open) {
      opened.showModal();
      // The browser would take the first of all, which is to close it.
      opened.querySelector<HTMLElement>('input, footer button')?.focus();
    }
    return () => opened?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={heading}
      onCancel={(event) => {
        // Closing is up to whoever opened it, who takes it out of the page.
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <button type="button" className="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** Who or what is meant: pairs of a word and a value. */
export function Pairs({
  pairs,
}: {
  readonly pairs: readonly (readonly [string, ReactNode])[];
}): ReactElement {
  return (
    <dl className="pairs">
      {pairs.map(([word, value]) => (
        <div key={word}>
          <dt>{word}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
