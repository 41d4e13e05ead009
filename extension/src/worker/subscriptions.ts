// Which panel watches which thread, so that each event goes where it is wanted.
import type { WireMessage } from '../protocol';

/** Events that only subscribers of their thread get; all others go to every panel. */
const FOR_WATCHERS: ReadonlySet<string> = new Set([
  'turn.start', 'item.start', 'item.delta', 'item.complete', 'token.usage', 'turn.complete', 'thread.node',
  'thread.snapshot', 'queue.updated', 'approval.request', 'approval.resolved', 'interaction.request',
  'interaction.resolved',
]);

export class Subscriptions<Panel> {
  private readonly watched = new Map<Panel, Set<string>>();
  private readonly asked = new Map<string, { panel: Panel; threadId: string; held: WireMessage[] }>();

  asking(panel: Panel, submissionId: string, threadId: string): void {
    this.asked.set(submissionId, { panel, threadId, held: [] });
  }

  /** The snapshot is there. Gives back what came while its parts were arriving, to be delivered after it. */
  answered(submissionId: string, ok: boolean): WireMessage[] {
    const asked = this.asked.get(submissionId);
    if (!asked) return [];
    this.asked.delete(submissionId);
    if (!ok) return [];
    const threads = this.watched.get(asked.panel) ?? new Set();
    this.watched.set(asked.panel, threads.add(asked.threadId));
    return asked.held;
  }

  left(panel: Panel, threadId: string): void {
    this.watched.get(panel)?.delete(threadId);
  }

  watchers(threadId: string, panels: Iterable<Panel>): Panel[] {
    return [...panels].filter((panel) => this.watched.get(panel)?.has(threadId));
  }

  /** Forgets the panel; gives back the threads that it watched. */
  gone(panel: Panel): string[] {
    const threads = [...(this.watched.get(panel) ?? [])];
    this.watched.delete(panel);
    for (const [submissionId, asked] of this.asked) if (asked.panel === panel) this.asked.delete(submissionId);
    return threads;
  }

  /** The host ended: every panel has to ask anew. */
  clear(): void {
    this.watched.clear();
    this.asked.clear();
  }

  /**
   * Who gets `event` now. While a message in parts is incomplete (`joining`), what follows its first part is newer
   * than the snapshot inside it and waits for a panel whose subscription is not answered yet.
   */
  receivers(event: WireMessage, panels: Iterable<Panel>, joining: boolean): Panel[] {
    const { threadId } = event;
    if (!threadId || !FOR_WATCHERS.has(event.type)) return [...panels];
    const waiting = new Set<Panel>();
    if (joining) {
      for (const asked of this.asked.values()) {
        if (asked.threadId !== threadId) continue;
        asked.held.push(event);
        waiting.add(asked.panel);
      }
    }
    return [...panels].filter((panel) => this.watched.get(panel)?.has(threadId) && !waiting.has(panel));
  }
}
