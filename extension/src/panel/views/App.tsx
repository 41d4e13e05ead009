// The panel as a whole: list, conversation or settings, and what lies over them.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { page } from '../store';
import { Announcer } from './Announcer';
import { Composer } from './Composer';
import { Conversation } from './Conversation';
import { Dialogs } from './Dialogs';
import { AccessCard } from './AccessCard';
import { HostStatus } from './HostStatus';
import { Keeping } from './KeepPage';
import { Settings } from './Settings';
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
  return (
    <div class={`app ${wide ? 'wide' : 'narrow'}`}>
      <ThreadList wide={wide} />
      {page.value === 'settings' ? <Settings /> : <Chat covered={!wide && page.value === 'threads'} />}
      <Dialogs />
      <Toasts />
      <Announcer />
    </div>
  );
}

function Chat({ covered }: { covered: boolean }): JSX.Element {
  return (
    <main class="chat" inert={covered}>
      <TopBar />
      <HostStatus />
      <Unconfirmed />
      <Conversation />
      <Keeping />
      <AccessCard />
      <Composer />
    </main>
  );
}
