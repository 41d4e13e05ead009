// Reads what the panel shows out of the payloads of nodes.
import type { ContentBlock, ContextBlock, ThreadNode, Usage, UserInput } from '../../protocol';

type Members = Readonly<Record<string, unknown>>;

const members = (node: ThreadNode): Members => node.payload as unknown as Members;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function textOfContent(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return (content as ContentBlock[])
    .map((block) => (block.type === 'text' ? block.text : ''))
    .filter((each) => each !== '')
    .join('\n\n');
}

export function textOf(node: ThreadNode): string {
  const payload = members(node);
  return text(payload['text']) || textOfContent(payload['content'] ?? payload['contentForLlm']);
}

export function reasoningOf(node: ThreadNode): string {
  return text(members(node)['reasoning']);
}

export function contextOf(node: ThreadNode): readonly ContextBlock[] {
  const context = members(node)['attachedContext'];
  return Array.isArray(context) ? (context as ContextBlock[]) : [];
}

/** What a message names beside its words: files, and pictures among its content. */
export function attachmentsOf(node: ThreadNode): readonly string[] {
  return attachmentsIn(members(node));
}

export function attachmentsIn(input: { readonly content?: unknown; readonly attachmentIds?: unknown }): readonly string[] {
  const named = Array.isArray(input.attachmentIds) ? (input.attachmentIds as string[]) : [];
  const content = Array.isArray(input.content) ? (input.content as ContentBlock[]) : [];
  const images = content.flatMap((block) => (block.type === 'image' ? [block.attachmentId] : []));
  return [...new Set([...named, ...images])];
}

export interface Origin { readonly model: string; readonly connectionId: string }

export function originOf(node: ThreadNode): Origin | null {
  const payload = members(node);
  const model = text(payload['model']);
  const connectionId = text(payload['connectionId']);
  return model || connectionId ? { model, connectionId } : null;
}

export function usageOf(node: ThreadNode): Usage | null {
  return (members(node)['usage'] as Usage | undefined) ?? null;
}

export function stopReasonOf(node: ThreadNode): string {
  return text(members(node)['stopReason']);
}

export interface ToolUse { readonly name: string; readonly params: string; readonly ok?: boolean }

export function toolOf(node: ThreadNode): ToolUse {
  const payload = members(node);
  const params = payload['params'];
  return {
    name: text(payload['toolName']),
    params: typeof params === 'string' ? params : params === undefined ? '' : JSON.stringify(params, null, 2),
    ...(typeof payload['ok'] === 'boolean' ? { ok: payload['ok'] } : {}),
  };
}

export function inputText(input: UserInput): string {
  return textOfContent(input.content);
}
