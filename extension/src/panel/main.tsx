// Starts the panel: restores what it remembered, connects, draws.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { outbox } from '../outbox/outbox';
import { sendWhenThere } from './effects/actions';
import { watchBeside } from './effects/beside';
import { keepDrafts, keepPlace, remember } from './effects/drafts';
import { heard, keepInStep } from './effects/live';
import { openPage } from './effects/pages';
import { connect, listen } from './effects/session';
import { attachWanted } from './effects/wanted';
import { preferences, thread } from './store';
import './style/index.css';
import { App } from './views/App';
import { loadLater } from './views/later';

async function start(): Promise<void> {
  connect(true);
  void outbox.warm();
  const place = new URLSearchParams(location.hash.slice(1));
  await remember(place.get('thread'));
  effect(() => {
    document.documentElement.dataset['theme'] = preferences.value.theme;
  });
  effect(() => {
    document.title = thread.value?.title ? `${thread.value.title} · Sidekeep` : 'Sidekeep';
  });
  listen(heard);
  listen((event) => {
    if (event.type === 'browser.request') void import('./effects/browsing').then(({ browse }) => browse(event));
  });
  watchBeside();
  keepInStep();
  keepDrafts();
  keepPlace();
  sendWhenThere();
  const kept = place.get('page');
  if (kept !== null) openPage(kept);
  attachWanted();
  const root = document.getElementById('app');
  if (root) render(<App />, root);
  requestIdleCallback(() => void loadLater());
}

void start();
