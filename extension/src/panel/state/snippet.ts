// The pieces of a search result's snippet: the host marks what was found with two characters of the private use area.

export interface Piece {
  readonly text: string;
  readonly hit: boolean;
}

const BEGIN = '\uE000';
const END = '\uE001';

export function marked(snippet: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let hit = false;
  for (const part of snippet.split(/([\uE000\uE001])/)) {
    if (part === BEGIN || part === END) hit = part === BEGIN;
    else if (part !== '') pieces.push({ text: part, hit });
  }
  return pieces;
}
