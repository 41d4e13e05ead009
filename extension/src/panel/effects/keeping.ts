// "Keep this page": the choice, the permission it takes, and what was kept.
import { signal } from '@preact/signals';
import { shown } from '../capture/cuts';
import type { KeepChoice, KeptPage } from '../capture/keep';
import { allow, tabOf, withAccess } from '../capture/tabs';
import { t } from '../i18n';
import { dispatch } from '../store';
import { toast } from './actions';
import { sayWhy } from './attaching';

const CHOICE = 'keepChoice';

/** What was last chosen to be kept beside the text. */
export const choice = signal<KeepChoice>({ copy: true, picture: false });
const stops = signal<AbortController | null>(null);

export function askToKeep(tabId?: number): void {
  void chrome.storage.local.get(CHOICE).then((kept) => {
    choice.value = (kept[CHOICE] as KeepChoice | undefined) ?? choice.peek();
    dispatch({ type: 'dialog', dialog: { kind: 'keep', tabId: tabId ?? null } });
  });
}

/** Must be called first thing in a click handler: a full copy needs a permission of its own. */
export async function keep(tabId: number | null, wanted: KeepChoice): Promise<void> {
  if (stops.peek()) return;
  const stop = new AbortController();
  stops.value = stop;
  try {
    // Refused, the copy is left out, and that is said.
    if (wanted.copy) await allow({ permissions: ['pageCapture'] });
    void chrome.storage.local.set({ [CHOICE]: wanted });
    const [tab, { keepTab }] = await Promise.all([tabOf(tabId ?? undefined), import('../capture/keep')]);
    say(await withAccess(tab, () => keepTab(tab, wanted, stop.signal)));
  } catch (error) {
    if (!stop.signal.aborted) sayWhy(error);
  } finally {
    stops.value = null;
  }
}

function say({ title, cuts }: KeptPage): void {
  toast(cuts.length === 0 ? t('keptPage', title) : t('keptCut', title, shown(cuts)));
}

export function stopKeeping(): void {
  stops.peek()?.abort(new Error('stopped'));
}
