// Narrows the list to one folder or one tag, and keeps the folders.
import type { JSX } from 'preact';
import { t } from '../i18n';
import type { Filter } from '../state/model';
import { can, dispatch, filter, folders, tags } from '../store';
import { TESTID } from '../testids';
import { Menu, type MenuItem } from './Menu';

function valueOf({ folderId, tag }: Filter): string {
  return folderId !== undefined ? `folder:${folderId}` : tag !== undefined ? `tag:${tag}` : '';
}

function filterOf(value: string): Filter {
  const [kind, ...rest] = value.split(':');
  const name = rest.join(':');
  return kind === 'folder' ? { folderId: name } : kind === 'tag' ? { tag: name } : {};
}

export function ListFilter(): JSX.Element | null {
  const chosen = filter.value;
  const offered = chosen.tag !== undefined && !tags.value.includes(chosen.tag) ? [...tags.value, chosen.tag] : tags.value;
  if (!can('folder.save') && offered.length === 0) return null;
  return (
    <div class="list-filter">
      <select
        class="filter"
        data-testid={TESTID.listFilter}
        aria-label={t('filterList')}
        value={valueOf(chosen)}
        onChange={(event) => dispatch({ type: 'filter.chosen', filter: filterOf(event.currentTarget.value) })}
      >
        <option value="">{t('allChats')}</option>
        {folders.value.length > 0 && (
          <optgroup label={t('folders')}>
            {folders.value.map((folder) => (
              <option key={folder.id} value={`folder:${folder.id}`}>
                {folder.name}
              </option>
            ))}
          </optgroup>
        )}
        {offered.length > 0 && (
          <optgroup label={t('tags')}>
            {offered.map((tag) => (
              <option key={tag} value={`tag:${tag}`}>{`#${tag}`}</option>
            ))}
          </optgroup>
        )}
      </select>
      {can('folder.save') && <Menu small label={t('foldersMenu')} items={folderItems(chosen.folderId)} />}
    </div>
  );
}

function folderItems(folderId: string | undefined): MenuItem[] {
  const all: MenuItem[] = [
    { icon: 'plus', label: t('newFolder'), run: () => dispatch({ type: 'dialog', dialog: { kind: 'folder.save', folderId: null } }) },
  ];
  if (folderId === undefined) return all;
  all.push({ icon: 'edit', label: t('renameFolder'), run: () => dispatch({ type: 'dialog', dialog: { kind: 'folder.save', folderId } }) });
  all.push({ icon: 'trash', label: t('deleteFolder'), run: () => dispatch({ type: 'dialog', dialog: { kind: 'folder.delete', folderId } }) });
  return all;
}
