// A far end that talks: sends a packet every 20 ms and keeps what it hears.
import { RtpPeer, type OfferOptions } from './rtp-peer.ts'

const tickMs = 20

export class RtpVoice {
  readonly #peer: RtpPeer
  #to: number | undefined
  readonly #timer: NodeJS.Timeout

  private constructor(peer: RtpPeer) {
    this.#peer = peer
    this.#timer = setInterval(() => {
      if (this.#to !== undefined) peer.send(this.#to, { payload: Buffer.alloc(160, 0x80) })
    }, tickMs)
  }

  static async open(): Promise<RtpVoice> {
    return new RtpVoice(await RtpPeer.open())
  }

  offer(options?: OfferOptions): string {
    return this.#peer.offer(options)
  }

  /** Sends to the address in the SDP of the platform. */
  talkTo(sdp: string): void {
    this.#to = Number(/^m=audio (\d+)/m.exec(sdp)?.[1])
  }

  get port(): number | undefined {
    return this.#to
  }

  /** Returns the arrival time of the first packet from `fromMs` on for which `holds` is true. */
  async next(what: string, fromMs: number, holds: (payload: Uint8Array) => boolean): Promise<number> {
    const isIt = ({ atMs, payload }: { atMs: number; payload: Uint8Array }): boolean =>
      atMs >= fromMs && holds(payload)
    return (await this.#peer.heard.next(what, isIt)).atMs
  }

  /** The arrival time of the last packet that is not silence. */
  get heardMs(): number | undefined {
    return this.#peer.heard.items.findLast(({ payload }) => payload.every((octet) => octet === 0x80))?.atMs
  }

  /** Counts the packets from `fromMs` on, and those missing from one stream. */
  countFrom(fromMs: number): { readonly heard: number; readonly lost: number; readonly streams: number } {
    const packets = this.#peer.heard.items.filter(({ atMs }) => atMs >= fromMs)
    const numbers = new Set(packets.map(({ sequence }) => sequence))
    const [first] = packets
    const last = packets.at(-1)
    const span =
      first === undefined || last === undefined ? 0 : ((last.sequence - first.sequence) & 0xffff) + 1
    const streams = new Set(packets.map(({ ssrc }) => ssrc)).size
    return { heard: packets.length, lost: span - numbers.size, streams }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#peer.close()
  }
}
