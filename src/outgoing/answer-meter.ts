// The bounds of one answer apart from its body: how many bytes of headers, chunk sizes, extensions and trailers the
// parser may see, and in how many pieces the answer may come.
import type { Clock } from '../lib/clock.ts'
import { EndlessAnswer } from './errors.ts'

/**
 * The most bytes without any of the body between them: the head with the interim responses before it, or a chunk
 * extension, or the trailers. Most clients take heads of 16 KiB at most.
 */
const maxBareBytes = 32 * 1024
/** The most bytes apart from the body in all, and for how many bytes of the body one more. Chunks of 64 bytes have less. */
const maxFramingBytes = 64 * 1024
const bodyBytesOfFraming = 8
/** The most pieces of a second, and for how many bytes one more. Each chunk is a piece, and each read of the network. */
const maxPieces = 2000
const bytesOfPiece = 128

export class AnswerMeter {
  readonly #clock: Clock
  /** The bytes that the parser has seen, and those of them that were of the body. */
  #seen = 0
  #body = 0
  /** The bytes that it had seen at the last piece of the body. */
  #seenAtBody = 0
  #pieces = 0
  /** When the second began in which pieces are counted, and the bytes before it. */
  #sinceMs = 0
  #seenBefore = 0
  #fault: EndlessAnswer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Expects an answer from the next byte on. */
  begin(): void {
    this.#seen = 0
    this.#body = 0
    this.#seenAtBody = 0
    this.#beginSecond(this.#clock.monotonic())
  }

  /** Why no more of the answer is read. */
  get fault(): EndlessAnswer | undefined {
    return this.#fault
  }

  /** Counts one read of the network. */
  arrived(): void {
    const nowMs = this.#clock.monotonic()
    if (nowMs - this.#sinceMs >= 1000) this.#beginSecond(nowMs)
    this.#countPiece()
  }

  /** Returns how many bytes the parser may see before it is asked again. There is a fault when there are none. */
  get room(): number {
    if (this.#fault !== undefined) return 0
    const bare = maxBareBytes - (this.#seen - this.#seenAtBody)
    const framing = maxFramingBytes + this.#body / bodyBytesOfFraming - (this.#seen - this.#body)
    if (bare > 0 && framing > 0) return Math.ceil(Math.min(bare, framing))
    this.#fault = new EndlessAnswer(
      this.#body === 0
        ? 'too many headers, interim responses or chunk extensions'
        : 'too many chunk sizes, chunk extensions or trailers',
    )
    return 0
  }

  /** Counts bytes that the parser sees; a negative number for those that it has given back. */
  saw(bytes: number): void {
    this.#seen += bytes
    this.#seenAtBody = Math.min(this.#seenAtBody, this.#seen)
  }

  /** Counts a piece of the body. */
  gotBody(bytes: number): void {
    this.#body += bytes
    this.#seenAtBody = this.#seen
    this.#countPiece()
  }

  #beginSecond(nowMs: number): void {
    this.#sinceMs = nowMs
    this.#pieces = 0
    this.#seenBefore = this.#seen
  }

  #countPiece(): void {
    this.#pieces += 1
    const bytes = this.#seen - this.#seenBefore
    if (this.#pieces > maxPieces + bytes / bytesOfPiece)
      this.#fault ??= new EndlessAnswer('too many small pieces')
  }
}
