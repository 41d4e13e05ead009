// Reads MHTML (RFC 2557) as browsers write it: the parts of a saved page, by the address each had.

export interface MhtmlPart {
  readonly type: string;
  readonly charset: string;
  /** Content-Location, and Content-ID as `cid:…`. */
  readonly names: readonly string[];
  readonly location: string;
  /** One character a byte. */
  readonly bytes: string;
}

export interface Mhtml {
  readonly root: MhtmlPart;
  readonly parts: ReadonlyMap<string, MhtmlPart>;
}

/** More parts than this no page has; a hostile file may. */
const MOST_PARTS = 20_000;

/** `binary` holds one character a byte. Raises Error when it is no MHTML. */
export function parseMhtml(binary: string): Mhtml {
  const [head, from] = headersAt(binary, 0);
  const boundary = parameter(head.get('content-type') ?? '', 'boundary');
  if (!/^multipart\/related/i.test(head.get('content-type') ?? '') || !boundary) throw new Error('This is no MHTML.');
  const parts = new Map<string, MhtmlPart>();
  let root: MhtmlPart | undefined;
  for (const [start, end] of piecesOf(binary, `--${boundary}`, from)) {
    const part = partOf(binary, start, end);
    root ??= part;
    for (const name of part.names) if (!parts.has(name)) parts.set(name, part);
  }
  if (!root) throw new Error('This MHTML holds nothing.');
  return { root, parts };
}

function* piecesOf(binary: string, delimiter: string, from: number): Generator<readonly [number, number]> {
  let at = lineAt(binary, delimiter, from);
  for (let count = 0; at >= 0 && count < MOST_PARTS; count += 1) {
    const start = at + delimiter.length;
    if (binary.startsWith('--', start)) return;
    const next = lineAt(binary, delimiter, start);
    yield [afterLine(binary, start), next < 0 ? binary.length : next];
    at = next;
  }
}

/** Where a line begins with `delimiter`. */
function lineAt(binary: string, delimiter: string, from: number): number {
  for (let at = binary.indexOf(delimiter, from); at >= 0; at = binary.indexOf(delimiter, at + 1)) {
    if (at === 0 || binary[at - 1] === '\n') return at;
  }
  return -1;
}

function afterLine(binary: string, from: number): number {
  const at = binary.indexOf('\n', from);
  return at < 0 ? binary.length : at + 1;
}

function headersAt(binary: string, from: number): readonly [ReadonlyMap<string, string>, number] {
  const found = /\r?\n\r?\n/g;
  found.lastIndex = from;
  const blank = binary.startsWith('\n', from) || binary.startsWith('\r\n', from) ? null : found.exec(binary);
  const end = blank ? blank.index : from;
  const next = blank ? blank.index + blank[0].length : afterLine(binary, from);
  const lines = binary.slice(from, end).replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return [headers, next];
}

function parameter(value: string, name: string): string {
  const found = new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]*)"|([^;\\s]+))`, 'i').exec(value);
  return found?.[1] ?? found?.[2] ?? '';
}

function partOf(binary: string, start: number, end: number): MhtmlPart {
  const [headers, from] = headersAt(binary, start);
  const content = headers.get('content-type') ?? 'text/plain';
  const location = headers.get('content-location') ?? '';
  const id = headers.get('content-id')?.replace(/^<|>$/g, '');
  return {
    type: content.split(';', 1)[0]?.trim().toLowerCase() ?? '',
    charset: parameter(content, 'charset') || 'utf-8',
    names: [...(location ? [location] : []), ...(id ? [`cid:${id}`] : [])],
    location,
    bytes: decoded(binary.slice(from, end).replace(/\r?\n$/, ''), headers.get('content-transfer-encoding') ?? ''),
  };
}

function decoded(body: string, encoding: string): string {
  switch (encoding.toLowerCase()) {
    case 'base64':
      return fromBase64(body.replace(/[^A-Za-z0-9+/]/g, ''));
    case 'quoted-printable':
      return body
        .replace(/[ \t]+(?=\r?\n|$)/g, '')
        .replace(/=\r?\n/g, '')
        .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    default:
      return body;
  }
}

function fromBase64(text: string): string {
  // One digit alone carries no byte.
  return atob(text.length % 4 === 1 ? text.slice(0, -1) : text);
}

export function textOfPart({ bytes, charset }: MhtmlPart): string {
  const array = Uint8Array.from(bytes, (character) => character.charCodeAt(0) & 0xff);
  try {
    return new TextDecoder(charset).decode(array);
  } catch {
    // A character set that nobody knows.
    return new TextDecoder().decode(array);
  }
}

/** The bytes of a file, one character each. */
export async function binaryOf(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 32_768) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 32_768)));
  return pieces.join('');
}
