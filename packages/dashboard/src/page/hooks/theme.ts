import { useCallback, useEffect } from 'react';
import { useKept } from './kept.ts';
import { useMedia } from './media.ts';

/** What is shown, and how to change to the other. */
export interface Theme {
  readonly theme: 'dark' | 'light';
  readonly toggle: () => void;
}

/** Dark or light: as the system has it until somebody chooses; whoever chooses what the system has follows it again. */
export function useTheme(): Theme {
  const systemIsDark = useMedia('(prefers-color-scheme: dark)');
  const [choice, keep] = useKept('theme', '');
  const isDark = choice === '' ? systemIsDark : choice === 'dark';
  useEffect(() => {
    document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  }, [isDark]);
  const toggle = useCallback(() => {
    keep(isDark === systemIsDark ? (isDark ? 'light' : 'dark') : '');
  }, [isDark, keep, systemIsDark]);
  return { theme: isDark ? 'dark' : 'light', toggle };
}
