import { useId, useLayoutEffect, useRef, type ReactElement, type ReactNode } from 'react';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog. The browser keeps the focus in it, closes it with Esc, and restores the focus. */
export function Dialog({ title, onClose, children }: DialogProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // The dialog is closed before its element is removed from the page, because only then does the browser
  // restore the focus.
  useLayoutEffect(() => {
    const opened = dialog.current;
    if (opened && !opened.open) {
      opened.showModal();
      // Focuses another element than the browser would: the browser chooses the first element, which is the
      // close button.
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
        // The dialog stays open until the component that opened it removes it from the page.
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

/** Shows a list of labels with their values in a dialog, such as the owner and the host of an entry. */
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
