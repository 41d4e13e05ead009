// Which dialog lies over the panel.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { countIn, deleteFolder, saveFolder } from '../effects/organise';
import { purgeThread } from '../effects/removal';
import { t } from '../i18n';
import { dialog, folders, threads } from '../store';
import { TESTID } from '../testids';
import { deletePage } from '../effects/pages';
import { AttachmentDialog } from './AttachmentDialog';
import { Branches } from './Branches';
import { closeDialog, Confirm, Dialog } from './Dialog';
import { History } from './History';
import { KeepDialog } from './KeepPage';
import { Organise } from './Organise';
import { Regenerate } from './Regenerate';
import { Rewind } from './Rewind';

export function Dialogs(): JSX.Element | null {
  const shown = dialog.value;
  switch (shown?.kind) {
    case undefined:
      return null;
    case 'organise':
      return <Organise key={shown.threadId} threadId={shown.threadId} />;
    case 'branches':
      return <Branches key={shown.threadId} threadId={shown.threadId} />;
    case 'history':
      return <History key={shown.threadId} threadId={shown.threadId} />;
    case 'rewind':
      return <Rewind key={shown.nodeId} threadId={shown.threadId} nodeId={shown.nodeId} />;
    case 'regenerate':
      return <Regenerate key={shown.nodeId} nodeId={shown.nodeId} />;
    case 'purge':
      return (
        <Confirm
          kind="purge"
          title={t('purgeTitle')}
          text={t('purgeText', threads.value[shown.threadId]?.title || t('newChat'))}
          label={t('deleteForGood')}
          run={() => void purgeThread(shown.threadId)}
        />
      );
    case 'attachment':
      return <AttachmentDialog key={shown.attachmentId} id={shown.attachmentId} />;
    case 'page.delete':
      return (
        <Confirm kind="page.delete" title={t('deletePageTitle')} text={t('deletePageText', shown.title)} label={t('deletePage')} run={() => void deletePage(shown.pageId)} />
      );
    case 'keep':
      return <KeepDialog tabId={shown.tabId} />;
    case 'folder.save':
      return <FolderName key={shown.folderId} folderId={shown.folderId} />;
    case 'folder.delete':
      return <FolderDelete key={shown.folderId} folderId={shown.folderId} />;
  }
}

const nameOf = (folderId: string | null): string => folders.value.find((each) => each.id === folderId)?.name ?? '';

function FolderName({ folderId }: { folderId: string | null }): JSX.Element {
  const [name, setName] = useState(nameOf(folderId));
  const title = t(folderId === null ? 'newFolder' : 'renameFolder');
  return (
    <Dialog kind="folder.save" title={title}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          closeDialog();
          saveFolder(folderId, name.trim());
        }}
      >
        <label class="field">
          <span>{t('folderName')}</span>
          <input data-testid={TESTID.newFolder} value={name} maxLength={80} autofocus onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <div class="buttons">
          <button type="submit" class="button primary" data-testid={TESTID.confirm} disabled={name.trim() === ''}>
            {t('save')}
          </button>
          <button type="button" class="button" onClick={closeDialog}>
            {t('cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function FolderDelete({ folderId }: { folderId: string }): JSX.Element {
  const [count, setCount] = useState<number | null>(null);
  useEffect(() => {
    void countIn(folderId).then(setCount);
  }, [folderId]);
  return (
    <Confirm
      kind="folder.delete"
      title={t('deleteFolderTitle', nameOf(folderId))}
      text={count === null ? t('deleteFolderText') : t('deleteFolderCount', count)}
      label={t('deleteFolder')}
      run={() => deleteFolder(folderId)}
    />
  );
}
