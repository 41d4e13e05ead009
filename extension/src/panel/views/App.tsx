// The panel as a whole: list, conversation or settings, and what lies over them.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { page } from '../store';
import { Announcer } from './Announcer';
import { Composer } from './Composer';
import { Conversation } from './Conversation';
import { Dialogs } from './Dialogs';
import { DropZone } from './DropZone';
import { AccessCard } from './AccessCard';
import { HostStatus } from './HostStatus';
import { Keeping } from './KeepPage';
import { Pages } from './Pages';
import { Reader } from './Reader';
import { Search } from './Search';
import { Settings } from './Settings';
import { useShortcuts } from './shortcuts';
import { ThreadList } from './ThreadList';
import { Toasts } from './Toasts';
import { TopBar } from './TopBar';
import { Unconfirmed } from './Unconfirmed';

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
      <Composer />
    </DropZone>
  );
}
