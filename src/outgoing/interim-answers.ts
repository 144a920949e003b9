// The 100 Continue that a server sends unasked. A client reads past each interim response (RFC 9110 §15.2); the HTTP
// library does so too, except that it closes the connection at a 100. So a 100 reaches it as a 102, which it skips.

/** The most interim responses before an answer. A server that sends more takes the thread from others. */
export const maxInterim = 100

/** Follows the bytes of responses up to each final status, and writes 102 for 100. */
export class InterimAnswers {
  /** The part of a response that the next byte is in. The rest of a response, after its final status, is not looked at. */
  #place: 'status' | 'fields' | 'rest' = 'rest'
  /** The first bytes of the status line: `HTTP/1.1 100`. */
  #status = ''
  #interim = 0
  /** How much of the empty line that ends the head has been read. */
  #lineEnds = 0

  /** Expects a response from the next byte on. */
  begin(): void {
    this.#interim = 0
    this.#next()
  }

  /** Whether the server has sent more interim responses than a client needs to read. */
  get isEndless(): boolean {
    return this.#interim > maxInterim
  }

  #next(): void {
    this.#place = 'status'
    this.#status = ''
  }

  /** Changes the bytes in place. */
  read(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && this.#place !== 'rest' && !this.isEndless; at += 1) {
      const byte = bytes[at] ?? 0
      if (this.#place === 'status') bytes[at] = this.#readStatus(byte)
      else this.#readFields(byte)
    }
  }

  #readStatus(byte: number): number {
    const char = String.fromCodePoint(byte)
    // The HTTP library reads past line ends in front of a response.
    if (this.#status === '' && (char === '\r' || char === '\n')) return byte
    this.#status += char
    if (this.#status.length < 'HTTP/1.1 100'.length) return byte
    const [, last] = /^HTTP\/1\.\d 1\d(\d)$/.exec(this.#status) ?? []
    const isInterim = last !== undefined && !this.#status.endsWith('101')
    this.#place = isInterim ? 'fields' : 'rest'
    if (isInterim) this.#interim += 1
    this.#lineEnds = 0
    return this.#status.endsWith(' 100') ? 0x32 : byte
  }

  #readFields(byte: number): void {
    const expected = this.#lineEnds % 2 === 0 ? 0x0d : 0x0a
    if (byte === expected) this.#lineEnds += 1
    else this.#lineEnds = byte === 0x0d ? 1 : 0
    if (this.#lineEnds === 4) this.#next()
  }
}
