// What else of the page beside the panel can go with a message.
import type { JSX } from 'preact';
import { attachPicture, attachSelection } from '../effects/attaching';
import { askToKeep } from '../effects/keeping';
import { t } from '../i18n';
import { can } from '../store';
import { TESTID } from '../testids';
import { Menu, type MenuItem } from './Menu';

/** `mention` begins an `@` in the field. */
export function AttachMenu({ mention }: { mention(): void }): JSX.Element {
  const items: MenuItem[] = [
    { icon: 'edit', label: t('attachSelection'), run: () => void attachSelection(), testId: 'attach-selection' },
    { icon: 'tab', label: t('attachTabs'), run: mention, testId: 'attach-tabs' },
  ];
  if (can('attachment.begin')) {
    items.push({ icon: 'picture', label: t('attachVisible'), run: () => void attachPicture(false), testId: 'attach-visible', separated: true });
    items.push({ icon: 'picture', label: t('attachWhole'), run: () => void attachPicture(true), testId: 'attach-whole' });
  }
  if (can('page.capture')) items.push({ icon: 'archive', label: t('keepPage'), run: () => askToKeep(), testId: 'attach-keep', separated: true });
  return <Menu label={t('attachMore')} items={items} icon="plus" testId={TESTID.attachMenu} />;
}
