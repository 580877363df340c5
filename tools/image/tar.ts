/** What a tar header says. Owner is always root and the time always 0: the same files give the same bytes. */
export interface TarHeader {
  /** Without a leading slash; at most 100 bytes. Folders end with one. */
  readonly name: string;
  readonly type: 'file' | 'folder' | 'link';
  readonly mode: number;
  /** Bytes of a file. Default: 0. */
  readonly size?: number;
  /** Target of a symbolic link. */
  readonly link?: string;
}

/** Bytes of a header, and the unit to which contents are filled up. */
export const tarBlock = 512;

/** The end of an archive: two empty blocks. */
export const tarEnd = Buffer.alloc(2 * tarBlock);

/** Zeroes that fill `size` bytes up to a whole block. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((tarBlock - (size % tarBlock)) % tarBlock);
}

const typeFlags = { file: '0', link: '2', folder: '5' } as const;

/** A POSIX ustar header. */
export function tarHeader(header: TarHeader): Buffer {
  const block = Buffer.alloc(tarBlock);
  if (Buffer.byteLength(header.name) > 100) throw new RangeError(`name too long for a tar header: ${header.name}`);
  const octal = (value: number, at: number, length: number): void => {
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  };
  block.write(header.name, 0, 'utf8');
  octal(header.mode, 100, 8);
  octal(0, 108, 8); // owner
  octal(0, 116, 8); // group
  octal(header.size ?? 0, 124, 12);
  octal(0, 136, 12); // time
  block.write('        ', 148, 'latin1'); // the checksum counts itself as blanks
  block.write(typeFlags[header.type], 156, 'latin1');
  block.write(header.link ?? '', 157, 'utf8');
  block.write('ustar\u000000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}
