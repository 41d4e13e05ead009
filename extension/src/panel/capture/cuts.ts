// What of a page was not taken: one word for each reason, with its sentence for the record and for the screen.
import { type MessageKey, t } from '../i18n';
import type { Unreadable } from './unreadable';

export type Cut =
  | 'text_long' | 'frames' | 'no_text' | 'no_copy' | 'copy_large' | 'no_picture' | 'picture_long' | 'picture_grew' | 'picture_slow'
  | 'picture_tab' | 'picture_moved' | 'blocked_inside';

/** As the record keeps them: one language for whoever reads it, and whenever. */
const RECORDED: Readonly<Record<Cut, string>> = {
  text_long: 'the text is longer than is kept',
  frames: 'parts from other sites could not be read',
  no_text: 'there is no text that can be read',
  no_copy: 'the browser could not save a full copy',
  copy_large: 'the full copy is too large',
  no_picture: 'the browser gave no picture',
  picture_long: 'the picture ends before the page does',
  picture_grew: 'the page went on growing while it was scrolled',
  picture_slow: 'the picture took too long',
  picture_tab: 'another tab came to the front',
  picture_moved: 'the tab went to another page',
  blocked_inside: 'a part is of a site that is never captured',
};

const SHOWN: Readonly<Record<Cut, MessageKey>> = {
  text_long: 'cutTextLong',
  frames: 'cutFrames',
  no_text: 'cutNoText',
  no_copy: 'cutNoCopy',
  copy_large: 'cutCopyLarge',
  no_picture: 'cutNoPicture',
  picture_long: 'cutPictureLong',
  picture_grew: 'cutPictureGrew',
  picture_slow: 'cutPictureSlow',
  picture_tab: 'cutPictureTab',
  picture_moved: 'cutPictureMoved',
  blocked_inside: 'cutBlockedInside',
};

export const recorded = (cuts: readonly Cut[]): string => cuts.map((cut) => RECORDED[cut]).join('; ');
export const shown = (cuts: readonly Cut[]): string => cuts.map((cut) => t(SHOWN[cut])).join('; ');

/** What a record says, for the screen; words that are none of ours stand as they are. */
export function inWords(reason: string): string {
  const known = new Map(Object.entries(RECORDED).map(([cut, words]) => [words, t(SHOWN[cut as Cut])]));
  return reason.split('; ').map((words) => known.get(words) ?? words).join('; ');
}

/** Why a picture ended, or is not there. */
export function pictureCut(why: Unreadable): Cut {
  if (why === 'not_in_front') return 'picture_tab';
  if (why === 'moved' || why === 'gone') return 'picture_moved';
  return why === 'blocked' || why === 'blocked_inside' ? 'blocked_inside' : 'no_picture';
}
