// How much is kept, how near the quota is, and a word when it is near.
import type { JSX } from 'preact';
import { openKeptPages } from '../effects/pages';
import { t } from '../i18n';
import { can, storage } from '../store';
import { TESTID } from '../testids';
import { Icon } from './Icon';
import { sizeText } from './sizes';

const NEAR = 0.8;

export function StorageUse(): JSX.Element | null {
  const use = storage.value;
  if (!use) return null;
  const part = use.attachmentsLimit === 0 ? 1 : use.evictableBytes / use.attachmentsLimit;
  return (
    <div class="storage-use" data-testid={TESTID.storageUse} data-warn={use.warn ? '1' : undefined}>
      <label class="field">
        <span>{t('storageOfQuota', sizeText(use.evictableBytes), sizeText(use.attachmentsLimit))}</span>
        <meter min={0} max={1} high={NEAR} optimum={0} value={Math.min(1, part)} />
      </label>
      <dl class="facts">
        <div>
          <dt>{t('storageAll')}</dt>
          <dd>{t('storageFiles', sizeText(use.attachmentsBytes), use.blobs)}</dd>
        </div>
        <div>
          <dt>{t('factDatabase')}</dt>
          <dd>{sizeText(use.databaseBytes)}</dd>
        </div>
      </dl>
      <p class="hint">{t('storageQuotaHint')}</p>
      {use.warn && <p class="notice"><Icon name="warning" size={15} /> <span>{t('storageNear')}</span></p>}
      {can('page.list') && (
        <div class="buttons">
          <button type="button" class="button" onClick={openKeptPages}>
            <Icon name="library" size={16} /> {t('keptPages')}
          </button>
        </div>
      )}
    </div>
  );
}
