// The panel's own icons: 20 by 20, drawn with one stroke.
import type { JSX } from 'preact';

const PATHS = {
  menu: 'M3.5 6h13M3.5 10h13M3.5 14h9',
  plus: 'M10 4v12M4 10h12',
  more: 'M4.3 10a.7.7 0 1 0 1.4 0 .7.7 0 1 0-1.4 0M9.3 10a.7.7 0 1 0 1.4 0 .7.7 0 1 0-1.4 0M14.3 10a.7.7 0 1 0 1.4 0 .7.7 0 1 0-1.4 0',
  close: 'M5 5l10 10M15 5L5 15',
  back: 'M12 4.5L6.5 10l5.5 5.5',
  next: 'M8 4.5l5.5 5.5L8 15.5',
  send: 'M10 16V4.5M5 9l5-5 5 5',
  page: 'M6 2.8h5.2L15 6.6v10.6H6zM11 3v4h4M8.2 10.5h4.6M8.2 13.5h4.6',
  copy: 'M7.5 7.5h8v8h-8zM4.5 12.5v-8h8',
  check: 'M4.5 10.5l3.5 3.5 7.5-8',
  edit: 'M4 16l.8-3.4L13 4.4l2.6 2.6-8.2 8.2zM11.5 6l2.6 2.6',
  again: 'M15.8 8.2A6 6 0 1 0 16 11M16 4.5v4h-4',
  trash: 'M4 6h12M8 6V4h4v2M5.6 6l.7 10h7.4l.7-10M8.6 9v4.5M11.4 9v4.5',
  restore: 'M4.2 8.2A6 6 0 1 1 4 11M4 4.5v4h4',
  fork: 'M6 7v6M6 3a2 2 0 1 0 0 4 2 2 0 0 0 0-4M6 13a2 2 0 1 0 0 4 2 2 0 0 0 0-4M14 3a2 2 0 1 0 0 4 2 2 0 0 0 0-4M14 7v1.5a3 3 0 0 1-3 3H9a3 3 0 0 0-3 1.8',
  folder: 'M3 5.2h5l1.8 2H17v8.6H3z',
  pin: 'M7 3.5h6l-.8 5 2.3 2.5H5.5L7.8 8.5zM10 11v5.5',
  archive: 'M3.5 4.5h13v3h-13zM4.8 7.5v8h10.4v-8M8 10.5h4',
  gear: 'M10 7.4a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2zM10 3v2M10 15v2M3 10h2M15 10h2M5 5l1.5 1.5M13.5 13.5L15 15M15 5l-1.5 1.5M6.5 13.5L5 15',
  tab: 'M3.5 4.5h13v11h-13zM3.5 8h13',
  warning: 'M10 3.5l7 12.5H3zM10 8.5v3.5M10 14h.01',
  picture: 'M3.5 4.5h13v11h-13zM3.8 14l4-4.2 3 3 2.2-2 3.4 3.4M12.8 7.6a.9.9 0 1 0 1.8 0 .9.9 0 1 0-1.8 0',
  clip: 'M14.5 9.5l-4.8 4.8a3.2 3.2 0 0 1-4.5-4.5l5.6-5.6a2.1 2.1 0 0 1 3 3l-5.4 5.4a1 1 0 0 1-1.5-1.5l4.6-4.6',
  file: 'M5.5 2.8h5.7L15 6.6v10.6H5.5zM11 3v4h4',
  download: 'M10 3.5v9M6 9l4 4 4-4M4 16.5h12',
  external: 'M8 4.5H4.5v11h11V12M11.5 4h4.5v4.5M16 4l-7 7',
  filter: 'M3.5 5.5h13M6 10h8M8.5 14.5h3',
  search: 'M9 3.8a5.2 5.2 0 1 0 0 10.4A5.2 5.2 0 0 0 9 3.8M13 13l3.8 3.8',
  library: 'M4.5 3.5h3v13h-3zM9 3.5h3v13H9zM13.2 4.4l2.2-.7 2.6 11.6-2.2.7z',
  chat: 'M3.5 4.5h13v9h-7l-3.5 3v-3h-2.5z',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }): JSX.Element {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 20 20" fill="none" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

export function StopIcon(): JSX.Element {
  return (
    <svg class="icon" width="18" height="18" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <rect x="5.5" y="5.5" width="9" height="9" rx="2" fill="currentColor" />
    </svg>
  );
}
