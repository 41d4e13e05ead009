// The panel as a whole: list, conversation or settings, and what lies over them.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { page } from '../store';
import { AccessCard } from './AccessCard';
import { Announcer } from './Announcer';
import { Composer } from './Composer';
import { Conversation } from './Conversation';
import { DropZone } from './DropZone';
import { HostStatus } from './HostStatus';
import { later } from './later';
import { useShortcuts } from './shortcuts';
import { ThreadList } from './ThreadList';
import { Toasts } from './Toasts';
import { TopBar } from './TopBar';

const BrowserAccessCards = later(async () => (await import('./BrowserAccessCards')).BrowserAccessCards);
const Keeping = later(async () => (await import('./KeepPage')).Keeping);
const Unconfirmed = later(async () => (await import('./Unconfirmed')).Unconfirmed);
const Dialogs = later(async () => (await import('./Dialogs')).Dialogs);
const Pages = later(async () => (await import('./Pages')).Pages);
const Reader = later(async () => (await import('./Reader')).Reader);
const Search = later(async () => (await import('./Search')).Search);
const Settings = later(async () => (await import('./Settings')).Settings);

const WIDE = '(min-width: 720px)';

function useWide(): boolean {
  const [wide, setWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const query = matchMedia(WIDE);
    const change = (): void => setWide(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return wide;
}

export function App(): JSX.Element {
  const wide = useWide();
  useShortcuts();
  return (
    <div class={`app ${wide ? 'wide' : 'narrow'}`}>
      <ThreadList wide={wide} />
      <Shown wide={wide} />
      <Dialogs />
      <Toasts />
      <Announcer />
    </div>
  );
}

function Shown({ wide }: { wide: boolean }): JSX.Element {
  switch (page.value) {
    case 'settings':
      return <Settings />;
    case 'search':
      return <Search />;
    case 'pages':
      return <Pages />;
    case 'reader':
      return <Reader />;
    case 'chat':
    case 'threads':
      return <Chat covered={!wide && page.value === 'threads'} />;
  }
}

function Chat({ covered }: { covered: boolean }): JSX.Element {
  return (
    <DropZone covered={covered}>
      <TopBar />
      <HostStatus />
      <Unconfirmed />
      <Conversation />
      <Keeping />
      <AccessCard />
      <BrowserAccessCards />
      <Composer />
    </DropZone>
  );
}
