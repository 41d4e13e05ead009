// The PDF in a tab: its bytes to the companion, which reads the text in a process with limits.
import { effect } from '@preact/signals';
import type { Job } from '../../protocol';
import { ask, listen, Refusal } from '../effects/session';
import { upload, uploadLimit, type UploadWatch } from '../effects/uploads';
import { link } from '../store';
import { fetched } from './fetched';
import { CannotRead } from './unreadable';

export interface PdfRead {
  readonly attachmentId: string;
  readonly size: number;
  readonly title: string;
  readonly url: string;
  readonly pages: number;
  readonly textId: string;
  /** The companion's own words for why not all was read. */
  readonly cut?: string;
}

interface Report { readonly attachmentId: string; readonly pages?: number; readonly textAttachmentId?: string; readonly cut?: { readonly reason: string } }

/** The companion gives itself 90 seconds for one. */
const DEADLINE = 120_000;

/** Raises CannotRead or Refusal. */
export async function readPdf(tab: chrome.tabs.Tab, watch: UploadWatch = {}): Promise<PdfRead> {
  const { bytes, url } = await fetched(tab.url ?? '', uploadLimit());
  const head = new TextDecoder('latin1').decode(await bytes.slice(0, 1_024).arrayBuffer());
  if (!head.includes('%PDF-')) throw new CannotRead('pdf_unread');
  const title = (tab.title || url).toWellFormed();
  const since = Date.now();
  const about = { kind: 'file', mime: 'application/pdf', provenance: 'page', trust: 'untrusted', sourceRef: url, meta: { url, title } } as const;
  const { attachmentId, size } = await upload({ bytes, ...about }, watch);
  const report = await reportOn(attachmentId, since, watch.signal);
  if (!report.textAttachmentId) throw new CannotRead('pdf_scanned');
  const cut = report.cut ? { cut: report.cut.reason } : {};
  return { attachmentId, size, title, url, pages: report.pages ?? 0, textId: report.textAttachmentId, ...cut };
}

/** Looks whenever a job has ended or a companion is there again: the end may come before its beginning is known here. */
function reportOn(attachmentId: string, since: number, signal: AbortSignal | undefined): Promise<Report> {
  return new Promise<Report>((resolve, reject) => {
    const looks = (): void => void look(attachmentId, since).then((report) => report && done(() => resolve(report)), (error: unknown) => done(() => reject(error)));
    const stopListening = listen((event) => event.type === 'job.done' && looks());
    const stopWatching = effect(() => {
      if (link.value.phase === 'ready') queueMicrotask(looks);
    });
    const timer = setTimeout(() => done(() => reject(new CannotRead('too_slow'))), DEADLINE);
    const cancelled = (): void => done(() => reject(signal?.reason as Error));
    signal?.addEventListener('abort', cancelled);
    const done = (settle: () => void): void => {
      stopListening();
      stopWatching();
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancelled);
      settle();
    };
  });
}

async function look(attachmentId: string, since: number): Promise<Report | null> {
  let jobs: readonly Job[];
  try {
    ({ data: { jobs } } = await ask('job.list', {}));
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
  const texts = jobs.filter((job) => job.kind === 'attachment.text');
  const ours = texts.map((job) => job.data as Report | undefined).find((report) => report?.attachmentId === attachmentId);
  if (ours) return ours;
  // One that failed does not say whose it was; another that waits or runs may still be ours.
  const late = texts.filter((job) => job.createdAt >= since - 1_000);
  if (late.length > 0 && late.every((job) => job.state === 'failed' || job.state === 'cancelled')) throw new CannotRead('pdf_unread');
  return null;
}

const READ = 512 * 1024;

/** The text of an attachment, as far as `limit` bytes of it. */
export async function textOfAttachment(attachmentId: string, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (let offset = 0; offset < limit; offset += READ) {
    const { data } = await ask('attachment.read', { attachmentId, offset, length: Math.min(READ, limit - offset) });
    text += decoder.decode(Uint8Array.from(atob(data.data), (letter) => letter.charCodeAt(0)), { stream: true });
    if (data.eof) return text + decoder.decode();
  }
  return text;
}
