// The content of an object as the body of a request: bytes in memory as they are, and a file as it is read.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { StreamedBody } from '../outgoing/outgoing.ts'
import type { Content, FileContent } from './vendor.ts'

export function sizeOf(content: Content): number {
  return 'path' in content ? content.size : content.length
}

/** Returns the content with these bytes before and after it. */
export function bodyOf(content: Content, before = '', after = ''): Uint8Array | StreamedBody {
  const [head, tail] = [Buffer.from(before), Buffer.from(after)]
  if (!('path' in content))
    return head.length + tail.length === 0 ? content : Buffer.concat([head, content, tail])
  return {
    bytes: head.length + content.size + tail.length,
    open: () => Readable.from(pieces(head, content, tail), { objectMode: false }),
  }
}

const sliceBytes = 65_536

async function* pieces(head: Buffer, { path, bytes }: FileContent, tail: Buffer): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head
  if (bytes === undefined) for await (const piece of createReadStream(path)) yield piece as Buffer
  else for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes)
  if (tail.length > 0) yield tail
}
