// The composer: grows with its text, keeps drafts, sends with Enter, takes pages and long pastes as chips.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { canSteer, leaveEdit, sendDraft, steerDraft, stop } from '../effects/actions';
import { addContext, attachHere, attaching, cuts, details, removeContext } from '../effects/attaching';
import { addFiles, files } from '../effects/files';
import { t } from '../i18n';
import { type Draft, NO_DRAFT } from '../state/model';
import { textOf } from '../state/payload';
import { can, conversation, dispatch, drafts, running, shownId } from '../store';
import { TESTID } from '../testids';
import { AttachMenu } from './AttachMenu';
import { Chip } from './Chip';
import { DraftFiles, FileButton } from './DraftFiles';
import { filesIn } from './DropZone';
import { Icon, StopIcon } from './Icon';
import { optionId, PICKER_ID, TabPicker } from './TabPicker';
import { useMention } from './useMention';

/** A paste longer than this becomes a chip; with Shift it stays text. */
const LONG_PASTE = 2_000;

export function Composer(): JSX.Element {
  const threadId = shownId.value;
  const turn = running.value;
  const draft = drafts.value[threadId] ?? NO_DRAFT;
  const field = useRef<HTMLTextAreaElement>(null);
  const shifted = useRef(false);
  const change = (next: Draft): void => dispatch({ type: 'draft', threadId, draft: next });
  const empty = draft.text.trim() === '' && !files.value.some((each) => each.threadId === threadId);
  const steerable = turn && canSteer(threadId);
  const mention = useMention(draft.text, (text) => change({ ...draft, text }));

  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`;
  }, [draft.text]);
  useEffect(() => field.current?.focus(), [threadId, draft.editing]);

  const onKeyDown = (event: KeyboardEvent): void => {
    shifted.current = event.shiftKey;
    // While an input method composes, Enter belongs to it (229: Safari's habit, kept by some methods).
    if (event.isComposing || event.keyCode === 229) return;
    if (mention.key(event)) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      if (steerable && (event.ctrlKey || event.metaKey)) steerDraft();
      else sendDraft();
    } else if (event.key === 'Escape') {
      if (draft.editing !== undefined) leaveEdit(threadId);
      else stop();
    } else if (event.key === 'ArrowUp' && draft.text === '') {
      const last = conversation.peek().nodes.findLast((node) => node.type === 'user_message');
      if (!last) return;
      event.preventDefault();
      change({ ...draft, text: textOf(last) });
    }
  };

  /** As if it had been typed: an `@` apart from the word before it. */
  const beginMention = (): void => {
    const element = field.current;
    if (!element) return;
    element.focus();
    const { selectionStart: at, value } = element;
    element.setRangeText(/(^|\s)$/.test(value.slice(0, at)) ? '@' : ' @', at, at, 'end');
    change({ ...draft, text: element.value });
    mention.look(element);
  };

  const onPaste = (event: ClipboardEvent): void => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    const pasted = filesIn(event.clipboardData);
    // Spreadsheets and word processors give a picture of the text beside it: the text is meant.
    if (pasted.length > 0 && text === '' && can('attachment.begin')) {
      event.preventDefault();
      addFiles(threadId, pasted);
      return;
    }
    if (text.length <= LONG_PASTE || shifted.current) return;
    event.preventDefault();
    addContext({ kind: 'paste', text: text.toWellFormed(), trust: 'trusted', provenance: 'user' });
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        sendDraft();
      }}
    >
      {draft.editing !== undefined && (
        <p class="editing">
          <Icon name="edit" size={14} /> {t('editing')}
          <button type="button" class="link" onClick={() => leaveEdit(threadId)}>
            {t('cancel')}
          </button>
        </p>
      )}
      {draft.context.length > 0 && (
        <div class="chips">
          {draft.context.map((block) => (
            <Chip key={block.attachmentId ?? `${block.kind} ${block.url ?? block.text}`} block={block} cutFrom={cuts.get(block)} detail={details.get(block)} onRemove={() => removeContext(block)} />
          ))}
        </div>
      )}
      <DraftFiles />
      {mention.open && <TabPicker entries={mention.entries} active={mention.active} choose={mention.choose} />}
      <textarea
        ref={field}
        data-testid={TESTID.composer}
        rows={1}
        value={draft.text}
        placeholder={t('composerPlaceholder')}
        aria-label={t('composerLabel')}
        dir="auto"
        aria-autocomplete={mention.open ? 'list' : undefined}
        aria-controls={mention.open && mention.entries.length > 0 ? PICKER_ID : undefined}
        aria-activedescendant={mention.open && mention.entries.length > 0 ? optionId(mention.active) : undefined}
        onInput={(event) => {
          change({ ...draft, text: event.currentTarget.value });
          mention.look(event.currentTarget);
        }}
        onSelect={(event) => mention.look(event.currentTarget)}
        onBlur={mention.close}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div class="composer-row">
        <button type="button" class="button quiet" data-testid={TESTID.attachPage} disabled={attaching.value} onClick={() => void attachHere()} title={t('attachPageTitle')}>
          <Icon name="page" size={16} /> {t(attaching.value ? 'readingPage' : 'attachPage')}
        </button>
        <FileButton />
        <AttachMenu mention={beginMention} />
        <span class="space" />
        {steerable && (
          <button type="button" class="button small" data-testid={TESTID.steer} onClick={() => steerDraft()} title={t('steerTitle')}>
            {t('steer')}
          </button>
        )}
        {turn && (
          <button type="button" class="round stop" data-testid={TESTID.stop} onClick={stop} aria-label={t('stop')} title={t('stopTitle')}>
            <StopIcon />
          </button>
        )}
        <button type="submit" class="round send" data-testid={TESTID.send} disabled={empty} aria-label={t(turn ? 'sendQueued' : 'send')} title={t(turn ? 'sendQueued' : 'sendTitle')}>
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}
