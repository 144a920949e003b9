// The framing of a byte stream: SIP messages by Content-Length (RFC 3261 §18.3), and keep-alives (RFC 5626 §3.5.1).
import { AppError } from '../../lib/errors.ts'
import type { SipMessage } from '../message/message.ts'
import {
  findBodyStart,
  messageLimits,
  parseHead,
  withBody,
  type MessageHead,
} from '../message/parse-message.ts'

export type Framed =
  | { readonly kind: 'message'; readonly message: SipMessage; readonly raw: Uint8Array }
  /** Two CRLFs between messages: the far end expects one back. */
  | { readonly kind: 'ping' }
  /** The rest of the stream cannot be framed: respond to the messages before, then close. */
  | { readonly kind: 'broken'; readonly reason: string }

const carriageReturn = 0x0d
const lineFeed = 0x0a
const firstCapacity = 4_096

export class StreamFramer {
  #buffer = Buffer.alloc(0)
  #length = 0
  /** No empty line ends before this offset. */
  #scanned = 0
  #head: MessageHead | undefined
  #crlfs = 0
  #isBroken = false

  /** Reports whether a message has begun and is not complete. */
  get isInsideMessage(): boolean {
    return this.#length > 0
  }

  push(chunk: Uint8Array): Framed[] {
    const framed: Framed[] = []
    if (this.#isBroken) return framed
    this.#append(chunk)
    try {
      while (this.#takeNext(framed));
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#break(framed, error.message)
    }
    return framed
  }

  #takeNext(framed: Framed[]): boolean {
    if (this.#head === undefined) {
      this.#dropLineEnds(framed)
      if (this.#length === 0) return false
      const bytes = this.#buffer.subarray(0, this.#length)
      const bodyStart = findBodyStart(bytes, this.#scanned)
      if (bodyStart === -1) {
        // The empty line may be cut in two: its first LF and CR are examined again.
        this.#scanned = Math.max(0, this.#length - 2)
        if (this.#length > messageLimits.messageBytes) this.#breakOff(bytes, framed)
        return false
      }
      this.#head = parseHead(bytes, 0, bodyStart)
    }
    return this.#takeMessage(this.#head, framed)
  }

  #takeMessage(head: MessageHead, framed: Framed[]): boolean {
    // Deviation from RFC 3261 §18.3: without Content-Length the body is treated as empty, as lenient senders of ACK
    // intend.
    const bodyBytes = head.contentLength ?? 0
    const end = head.bodyStart + bodyBytes
    if (!(end <= messageLimits.messageBytes)) {
      const raw = Buffer.from(this.#buffer.subarray(0, head.bodyStart))
      const fault = head.message.kind === 'request' ? head.message.malformed : undefined
      framed.push({ kind: 'message', message: head.message, raw })
      this.#break(framed, fault ?? 'Content-Length cannot be framed')
      return false
    }
    if (this.#length < end) return false
    const raw = Buffer.from(this.#buffer.subarray(0, end))
    framed.push({ kind: 'message', message: withBody(head.message, raw, head.bodyStart, bodyBytes), raw })
    this.#drop(end)
    this.#head = undefined
    return true
  }

  #dropLineEnds(framed: Framed[]): void {
    let position = 0
    while (position < this.#length) {
      const isPair = this.#buffer[position] === carriageReturn && this.#buffer[position + 1] === lineFeed
      if (isPair && position + 1 < this.#length) {
        position += 2
        this.#crlfs += 1
        if (this.#crlfs === 2) {
          framed.push({ kind: 'ping' })
          this.#crlfs = 0
        }
      } else if (this.#buffer[position] === lineFeed) position += 1
      else break
    }
    if (position > 0) this.#drop(position)
    if (this.#length > 1) this.#crlfs = 0
  }

  /** Handles headers without an end: the part that has arrived suffices for a response. */
  #breakOff(bytes: Buffer, framed: Framed[]): void {
    const raw = Buffer.from(bytes.subarray(0, bytes.lastIndexOf(lineFeed) + 1))
    try {
      const { message } = parseHead(raw, 0, raw.length)
      framed.push({ kind: 'message', message: { ...message, tooLarge: 513 }, raw })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
    }
    this.#break(framed, 'Headers too large')
  }

  #break(framed: Framed[], reason: string): void {
    this.#isBroken = true
    this.#length = 0
    this.#buffer = Buffer.alloc(0)
    framed.push({ kind: 'broken', reason })
  }

  /** Grows by doubling, so that a sender of single bytes does not cause much copying. */
  #append(chunk: Uint8Array): void {
    const needed = this.#length + chunk.byteLength
    if (needed > this.#buffer.byteLength) {
      const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#buffer.byteLength, firstCapacity))
      this.#buffer.copy(larger, 0, 0, this.#length)
      this.#buffer = larger
    }
    this.#buffer.set(chunk, this.#length)
    this.#length = needed
  }

  #drop(bytes: number): void {
    this.#buffer.copyWithin(0, bytes, this.#length)
    this.#length -= bytes
    this.#scanned = 0
    // An idle connection keeps no buffer: there may be thousands of them.
    if (this.#length === 0) this.#buffer = Buffer.alloc(0)
  }
}
