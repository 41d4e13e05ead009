// A small menu at a button, below it or above it, where there is room: arrows move, Esc and a click elsewhere close.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { TESTID } from '../testids';
import { Icon, type IconName } from './Icon';

export interface MenuItem {
  readonly icon: IconName;
  readonly label: string;
  readonly separated?: boolean;
  readonly testId?: string;
  run(): void;
}

const GAP = 4;

/** A scroller around the button would cut the menu off, so it is placed in the window. */
function place(list: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const below = at.bottom + GAP;
  const top = below + height <= innerHeight - GAP ? below : at.top - GAP - height;
  const left = getComputedStyle(list).direction === 'rtl' ? at.left : at.right - width;
  list.style.top = `${Math.max(GAP, top)}px`;
  list.style.left = `${Math.max(GAP, Math.min(left, innerWidth - width - GAP))}px`;
}

interface Props {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly small?: boolean;
  readonly icon?: IconName;
  readonly testId?: string;
}

export function Menu({ label, items, small = false, icon = 'more', testId = small ? TESTID.itemMenu : TESTID.openMenu }: Props): JSX.Element {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    if (open && button.current && list.current) place(list.current, button.current);
  }, [open]);
  useEffect(() => {
    if (!open) return undefined;
    root.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const outside = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    const away = (): void => setOpen(false);
    document.addEventListener('pointerdown', outside);
    document.addEventListener('scroll', away, true);
    addEventListener('resize', away);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('scroll', away, true);
      removeEventListener('resize', away);
    };
  }, [open]);

  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!open) return;
    const all = [...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === 'Escape') close();
    else if (event.key === 'Tab') setOpen(false);
    else if (to !== undefined) all.at(to % all.length)?.focus();
    else return;
    if (event.key !== 'Tab') {
      event.preventDefault();
      event.stopPropagation();
    }
  };

  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button ref={button} type="button" class={`icon-button ${small ? 'small' : ''}`} data-testid={testId} aria-haspopup="menu" aria-expanded={open} aria-label={label} title={label} onClick={() => setOpen(!open)}>
        <Icon name={icon} size={small ? 16 : 18} />
      </button>
      {open && (
        <div ref={list} class="menu-items" role="menu" aria-label={label}>
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={item.separated ? 'separated' : ''}
              data-testid={item.testId}
              onClick={() => {
                close();
                item.run();
              }}
            >
              <Icon name={item.icon} size={16} /> {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
