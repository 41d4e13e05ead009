// The one door to the generated wire types: adds what the worker and the panel need to tell messages apart.
import type { HostEvent, Op, OpBody, OpName } from './protocol.gen';

export * from './protocol.gen';

export type OpType = OpName;
/** The members of an op that say what is wanted, without its envelope. */
export type Wanted<K extends OpType> = OpBody<K>;

/** A message of the host before anybody has looked at its type: there may be more members than we know. */
export interface WireMessage {
  readonly type: string;
  readonly submissionId?: string;
  readonly clientId?: string;
  readonly threadId?: string;
  readonly [member: string]: unknown;
}

/** The worker's own word for "there was nobody to ask"; never comes from a host. */
export interface NotConnected { type: 'local.not_connected'; submissionId: string }

/** What the panel hears: the host's events, and the worker's one. */
export type Heard = HostEvent | NotConnected;

const ANSWERS: ReadonlySet<string> = new Set(['command.ack', 'command.rejected', 'result', 'pong', 'initialized']);

export function isAnswer(message: WireMessage): message is WireMessage & { readonly submissionId: string } {
  return ANSWERS.has(message.type) && typeof message.submissionId === 'string';
}

/** Ops that change nothing that lasts: asked again after a reconnect instead of being kept. */
const QUERIES: ReadonlySet<string> = new Set<OpName>([
  'initialize', 'ping', 'client.visibility', 'thread.list', 'thread.search', 'thread.page', 'thread.subscribe',
  'thread.unsubscribe', 'branch.list', 'run.get', 'receipt.get', 'attachment.status', 'attachment.read',
  'attachment.list', 'page.list', 'page.get', 'storage.status', 'secret.list', 'connection.list', 'settings.get',
  'rule.list', 'preset.list', 'folder.list', 'memory.list', 'skill.list', 'skill.get', 'vault.status',
  'backup.list', 'session.commits', 'project.list', 'sync.status', 'job.list',
]);

/** Commands that carry a secret, or bytes that are sent again from their source: never kept in the browser. */
const NEVER_KEPT = /^(secret\.|vault\.|attachment\.chunk$|browser\.response$)/;

export function isKept(type: string): boolean {
  return !QUERIES.has(type) && !NEVER_KEPT.test(type);
}

export function threadOf(op: Op): string | undefined {
  return 'threadId' in op ? op.threadId : undefined;
}

export const HOST_NAME = 'dev.sidekeep.host';
