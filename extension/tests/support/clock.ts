// A clock that moves when told to: timers run in the order of their times.
export class Clock {
  private at = 1_000_000;
  private timers: { at: number; order: number; run: () => void }[] = [];
  private order = 0;

  readonly now = (): number => this.at;

  readonly after = (milliseconds: number, run: () => void): (() => void) => {
    const timer = { at: this.at + milliseconds, order: (this.order += 1), run };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((each) => each !== timer);
    };
  };

  get waiting(): number {
    return this.timers.length;
  }

  move(milliseconds: number): void {
    const end = this.at + milliseconds;
    for (;;) {
      const [next] = this.timers.filter((timer) => timer.at <= end).toSorted((a, b) => a.at - b.at || a.order - b.order);
      if (!next) break;
      this.timers = this.timers.filter((each) => each !== next);
      this.at = next.at;
      next.run();
    }
    this.at = end;
  }
}
