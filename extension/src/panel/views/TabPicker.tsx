// The tabs that an `@` in the composer may mean: a list that the field steers by its arrows.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../i18n';
import { hiddenTabs, offered } from '../effects/mentioning';
import { matching, type OfferedTab } from '../state/mention';
import { TESTID } from '../testids';
import { Icon } from './Icon';

const SHOWN = 8;
export const PICKER_ID = 'tab-picker';
export const optionId = (at: number): string => `${PICKER_ID}-${at}`;

/** Null stands for the entry that asks to know all tabs. */
export function choices(query: string): (OfferedTab | null)[] {
  const tabs: (OfferedTab | null)[] = matching(offered.value ?? [], query).slice(0, SHOWN);
  return hiddenTabs.value ? [...tabs, null] : tabs;
}

interface Props {
  readonly entries: readonly (OfferedTab | null)[];
  readonly active: number;
  choose(entry: OfferedTab | null): void;
}

export function TabPicker({ entries, active, choose }: Props): JSX.Element | null {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.children[active]?.scrollIntoView?.({ block: 'nearest' }), [active]);
  if (offered.value === null) return null;
  if (entries.length === 0) return <p class="tab-picker hint">{t('tabsNone')}</p>;
  return (
    <div ref={list} id={PICKER_ID} class="tab-picker" role="listbox" aria-label={t('tabsLabel')} data-testid={TESTID.tabPicker}>
      {entries.map((entry, at) => (
        <div
          key={entry?.id ?? 'all'}
          id={optionId(at)}
          role="option"
          aria-selected={at === active}
          class="tab-option"
          data-testid={TESTID.tabOption}
          // The field keeps the focus, and the click is still one.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => choose(entry)}
        >
          <Icon name={entry ? 'tab' : 'plus'} size={15} />
          <span class="chip-text">
            <span class="chip-name">{entry ? entry.title : t('tabsAllow')}</span>
            {entry && <span class="chip-detail">{URL.canParse(entry.url) ? new URL(entry.url).host : ''}</span>}
          </span>
        </div>
      ))}
    </div>
  );
}
