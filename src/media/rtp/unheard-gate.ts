// Limits what is sent to an address that only an SDP has named: any caller could name the address of another machine there.
// A second at full rate lets a far end that waits for the first packet begin (RFC 4961); after that one packet a second
// keeps a NAT binding, until a packet comes from there.

const fullPackets = 50
// Offers that name one address after another begin with fewer, then with none.
const fullPacketsInAll = 250
const thinMs = 1000

export class UnheardGate {
  #address: string | undefined
  #left = 0
  #leftInAll = fullPacketsInAll
  #nextMs = 0

  /** Whether everything may be sent. */
  get isOpen(): boolean {
    return this.#address === undefined
  }

  /** Closes for an address that nothing has come from. `isThin`: without a second at full rate. */
  close(address: string, isThin = false): void {
    if (address === this.#address) return
    this.#address = address
    this.#left = isThin ? 0 : fullPackets
  }

  open(): void {
    this.#address = undefined
  }

  /** Opens if the address is the one that it is closed for. */
  heardFrom(address: string): void {
    if (address === this.#address) this.open()
  }

  /** Returns whether a packet may be sent now, and counts it. */
  admits(nowMs: number): boolean {
    if (this.#left > 0 && this.#leftInAll > 0) {
      this.#left -= 1
      this.#leftInAll -= 1
      this.#nextMs = nowMs + thinMs
      return true
    }
    if (nowMs < this.#nextMs) return false
    this.#nextMs = nowMs + thinMs
    return true
  }
}
