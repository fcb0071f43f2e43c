import { useCallback, useEffect } from 'react';
import { useStoredText } from './stored-text.ts';
import { useMedia } from './media.ts';

/** The current theme of the page, and how to switch it. */
export interface Theme {
  readonly theme: 'dark' | 'light';
  readonly toggle: () => void;
}

/** Follows the system's theme until the user chooses another one. If the user chooses the system's theme, follows it again. */
export function useTheme(): Theme {
  const systemIsDark = useMedia('(prefers-color-scheme: dark)');
  const [choice, keep] = useStoredText('theme', '');
  const isDark = choice === '' ? systemIsDark : choice === 'dark';
  useEffect(() => {
    document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  }, [isDark]);
  const toggle = useCallback(() => {
    keep(isDark === systemIsDark ? (isDark ? 'light' : 'dark') : '');
  }, [isDark, keep, systemIsDark]);
  return { theme: isDark ? 'dark' : 'light', toggle };
}
