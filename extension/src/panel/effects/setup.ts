// Connections, keys and the default model.
import { newId } from '../../ids';
import type { Connection, ConnectionInput, ModelRef } from '../../protocol';
import { toast } from './actions';
import { loadConnections, loadSettings } from './live';
import { sentence } from './sentences';
import { ask, command, listen, Refusal } from './session';

async function outcome(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.code === 'invalid_command' ? error.message : sentence(error.code, error.message);
  }
}

export function chooseModel(model: ModelRef): void {
  void outcome(async () => {
    await command('settings.set', { patch: { 'models.default': model } });
    await loadSettings();
  }).then((problem) => problem !== null && toast(problem, 'error'));
}

export interface ConnectionWish {
  readonly known?: Connection;
  readonly kind: 'openai' | 'anthropic';
  readonly name: string;
  readonly baseUrl: string;
  readonly key: string;
  readonly modelIds: readonly string[];
}

/** Null when it is saved, else what is wrong with it. */
export function saveConnection(wish: ConnectionWish): Promise<string | null> {
  return outcome(async () => {
    const { known, kind, name, baseUrl, key, modelIds } = wish;
    let secretRefs = known?.secretRefs ?? [];
    if (key !== '') {
      // A secret is bound to where it was first used, so a new key gets a new name.
      const secret = `${kind}-${newId().slice(-12)}`;
      await ask('secret.set', { name: secret, value: key });
      secretRefs = [secret];
    }
    const kept = known ? inputOf(known) : {};
    const connection: ConnectionInput = {
      ...kept,
      kind,
      name,
      baseUrl,
      enabled: true,
      modelIds: [...modelIds],
      ...(secretRefs.length > 0 ? { secretRefs: [...secretRefs] } : {}),
    };
    await command('connection.save', { connection });
    await loadConnections();
  });
}

/** What the host says about a connection, without what only it may say. */
function inputOf({ revision: _r, installed: _i, ...connection }: Connection): ConnectionInput {
  return connection;
}

export function deleteConnection(connectionId: string): void {
  void outcome(async () => {
    await command('connection.delete', { connectionId });
    await loadConnections();
  }).then((problem) => problem !== null && toast(problem, 'error'));
}

export interface Verdict { readonly ok: boolean; readonly message: string; readonly steps: readonly Step[] }
export interface Step { readonly name: string; readonly ok: boolean; readonly code?: string; readonly message?: string }

/** Tries the connection; the job's end tells how it went. */
export async function verify(connectionId: string): Promise<Verdict> {
  let jobId = '';
  const ends = new Map<string, Verdict>();
  let wake: (verdict: Verdict) => void = () => undefined;
  const done = new Promise<Verdict>((resolve) => {
    wake = resolve;
  });
  // The end may be heard before the acknowledgement has been looked at.
  const stop = listen((event) => {
    if (event.type !== 'job.done') return;
    const data = event.data as { ok?: boolean; steps?: Step[] } | undefined;
    const failed = data?.steps?.find((step) => !step.ok);
    const message = failed ? sentence(failed.code ?? '', failed.message ?? '') : (event.message ?? '');
    const verdict = { ok: data?.ok === true && event.code === undefined, message, steps: data?.steps ?? [] };
    ends.set(event.jobId, verdict);
    if (event.jobId === jobId) wake(verdict);
  });
  try {
    const problem = await outcome(async () => {
      ({ jobId } = await command('connection.verify', { connectionId }));
    });
    if (problem !== null) return { ok: false, message: problem, steps: [] };
    return ends.get(jobId) ?? (await done);
  } finally {
    stop();
  }
}

