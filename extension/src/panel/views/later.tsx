// Views that nobody sees at first: their code is read once the panel stands, or when one of them is asked for.
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const all: (() => Promise<void>)[] = [];

export function later<Props extends object>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> {
  let View: FunctionComponent<Props> | null = null;
  const get = async (): Promise<void> => {
    const found = await load();
    View = found;
  };
  all.push(get);
  return function Later(props: Props) {
    const [, drawAgain] = useState(false);
    useEffect(() => {
      if (!View) void get().then(() => drawAgain(true));
    }, []);
    return View ? <View {...props} /> : null;
  };
}

/** Loads them all, so that each is there at once when it is wanted. */
export async function loadLater(): Promise<void> {
  await Promise.all(all.map((get) => get()));
}
