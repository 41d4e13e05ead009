// The folder and the tags of one chat.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ThreadMeta } from '../../protocol';
import { tell } from '../effects/actions';
import { LONGEST_TAG, moveTo, moveToNew, setTags, withTags } from '../effects/organise';
import { command } from '../effects/session';
import { t } from '../i18n';
import { withPending } from '../state/shelves';
import { can, folders, pending, tags as knownTags, threads } from '../store';
import { TESTID } from '../testids';
import { closeDialog, Dialog } from './Dialog';
import { Icon } from './Icon';
import { useProjects } from './Projects';

const NEW = 'new';

export function Organise({ threadId }: { threadId: string }): JSX.Element | null {
  const known = threads.value[threadId];
  if (!known) return null;
  const { thread } = withPending(known, pending.value);
  return (
    <Dialog kind="organise" title={thread.title || t('newChat')}>
      {can('folder.save') && <FolderChoice threadId={threadId} folderId={thread.folderId ?? ''} />}
      {can('project.list') && <ProjectChoice thread={thread} />}
      <TagList threadId={threadId} tags={thread.tags} />
      <div class="buttons">
        <button type="button" class="button primary" data-testid={TESTID.confirm} onClick={closeDialog}>
          {t('done')}
        </button>
      </div>
    </Dialog>
  );
}

function FolderChoice({ threadId, folderId }: { threadId: string; folderId: string }): JSX.Element {
  const [naming, setNaming] = useState(false);
  const [name, setName] = useState('');
  return (
    <>
      <label class="field">
        <span>{t('folder')}</span>
        <select
          data-testid={TESTID.folderChoice}
          value={naming ? NEW : folderId}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setNaming(value === NEW);
            if (value !== NEW) moveTo(threadId, value || null);
          }}
        >
          <option value="">{t('noFolder')}</option>
          {folders.value.map((folder) => (
            <option key={folder.id} value={folder.id}>
              {folder.name}
            </option>
          ))}
          <option value={NEW}>{t('newFolderChoice')}</option>
        </select>
      </label>
      {naming && (
        <form
          class="field-row"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() === '') return;
            moveToNew(threadId, name.trim());
            setNaming(false);
            setName('');
          }}
        >
          <input class="rename" data-testid={TESTID.newFolder} value={name} maxLength={80} autofocus aria-label={t('folderName')} placeholder={t('folderName')} onInput={(event) => setName(event.currentTarget.value)} />
          <button type="submit" class="button" disabled={name.trim() === ''}>
            {t('create')}
          </button>
        </form>
      )}
    </>
  );
}

/** Until its first message a chat may be bound to a project's folder. */
function ProjectChoice({ thread }: { thread: ThreadMeta }): JSX.Element | null {
  const projects = useProjects();
  if (projects.length < 2) return null;
  const frozen = thread.leafId !== null;
  return (
    <label class="field">
      <span>{t('project')}</span>
      <select
        data-testid={TESTID.projectChoice}
        value={thread.projectId ?? 'default'}
        disabled={frozen}
        title={frozen ? t('projectFrozen') : undefined}
        onChange={(event) => {
          const { value } = event.currentTarget;
          void tell(command('thread.update', { threadId: thread.id, patch: { projectId: value === 'default' ? null : value } }));
        }}
      >
        {projects.map((project) => (
          <option key={project.id} value={project.id}>
            {project.id === 'default' ? t('noProject') : project.name}
          </option>
        ))}
      </select>
    </label>
  );
}

function TagList({ threadId, tags }: { threadId: string; tags: readonly string[] }): JSX.Element {
  const [text, setText] = useState('');
  const add = (): void => {
    const next = withTags(tags, text);
    setText('');
    if (next.length > tags.length) setTags(threadId, next);
  };
  return (
    <div class="field">
      <span id="tags-label">{t('tags')}</span>
      {tags.length > 0 && (
        <ul class="tags" aria-labelledby="tags-label">
          {tags.map((tag) => (
            <li key={tag} class="tag" data-testid={TESTID.tag}>
              {`#${tag}`}
              <button type="button" class="icon-button small" onClick={() => setTags(threadId, tags.filter((each) => each !== tag))} aria-label={t('removeTag', tag)}>
                <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        class="field-row"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <input class="rename" data-testid={TESTID.newTag} value={text} maxLength={LONGEST_TAG} list="known-tags" aria-label={t('addTag')} placeholder={t('addTag')} onInput={(event) => setText(event.currentTarget.value)} />
        <datalist id="known-tags">
          {knownTags.value.filter((tag) => !tags.includes(tag)).map((tag) => (
            <option key={tag} value={tag} />
          ))}
        </datalist>
        <button type="submit" class="button" disabled={text.trim() === ''}>
          {t('add')}
        </button>
      </form>
    </div>
  );
}
