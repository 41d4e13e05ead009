// A job of the companion from its start to its end.
import type { Heard, Wanted } from '../../protocol';
import { sentence } from './sentences';
import { command, listen, Refusal } from './session';

export interface Outcome<T> {
  readonly data: T | null;
  /** What went wrong, as a sentence; null when it is done. */
  readonly problem: string | null;
}

type Begins = 'session.rewind' | 'session.undoRewind' | 'sync.start';
type End = Extract<Heard, { type: 'job.done' }>;

/** Begins the job and waits for its end, which may be heard before the acknowledgement has been looked at. */
export async function run<T>(op: Begins, wanted: Wanted<Begins>): Promise<Outcome<T>> {
  const ends = new Map<string, End>();
  let wake: () => void = () => undefined;
  const stop = listen((event) => {
    if (event.type !== 'job.done') return;
    ends.set(event.jobId, event);
    wake();
  });
  try {
    const { jobId } = (await command(op, wanted as never)) as { jobId: string };
    while (!ends.has(jobId)) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const end = ends.get(jobId);
    // What a job says is about what was asked of it, and tells more than its code.
    if (end?.code !== undefined) return { data: null, problem: end.message || sentence(end.code, '') };
    return { data: (end?.data ?? null) as T | null, problem: null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { data: null, problem: error.code === 'invalid_command' ? error.message : sentence(error.code, error.message) };
  } finally {
    stop();
  }
}
