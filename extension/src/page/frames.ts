// Which pages stand inside this one: a site that is never captured may be among them.
import { contentOf } from './flatten';

/** Addresses of all frames that can be seen from here, at any depth. */
export function framesHere(of: Document = document): string[] {
  return [...of.querySelectorAll<HTMLIFrameElement>('iframe,frame')].flatMap((frame) => {
    const inner = contentOf(frame);
    const address = inner?.URL ?? frame.src;
    const own = /^https?:/.test(address) ? [address] : [];
    return inner ? [...own, ...framesHere(inner)] : own;
  });
}
