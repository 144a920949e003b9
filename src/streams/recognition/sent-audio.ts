// The audio of one recogniser: its last seconds, for another connection, and which time of the call a vendor's time is.

/** The audio that is kept for a replay. */
const keptMs = 8000
export const frameMs = 20

interface Piece {
  readonly octets: Uint8Array
  /** Milliseconds of the ring at its start. */
  readonly atMs: number
}

export class SentAudio {
  #kept: Piece[] = []
  #nextMs = 0
  /** Where pieces of the ring begin in the audio of this connection, the earliest first. */
  #map: { sentMs: number; atMs: number }[] = []
  #sentMs = 0
  #totalMs = 0
  /** The time of the ring up to which words are final. */
  #settledMs = 0

  /** The milliseconds that were taken from the ring. */
  get atMs(): number {
    return this.#nextMs
  }

  /** The milliseconds sent over all connections. */
  get totalMs(): number {
    return this.#totalMs
  }

  /** Takes the next frame of the ring. */
  take(octets: Uint8Array): Piece {
    const piece = { octets, atMs: this.#nextMs }
    this.#nextMs += frameMs
    this.#kept.push(piece)
    if (this.#kept.length * frameMs > keptMs) this.#kept.shift()
    return piece
  }

  /** Passes a frame that is not sent. What was said before is kept for as long as it would be otherwise. */
  skip(): void {
    this.#nextMs += frameMs
    if ((this.#kept[0]?.atMs ?? 0) + keptMs < this.#nextMs) this.#kept.shift()
  }

  sent({ atMs }: Piece): void {
    const last = this.#map.at(-1)
    if (last === undefined || atMs - last.atMs !== this.#sentMs - last.sentMs)
      this.#map.push({ sentMs: this.#sentMs, atMs })
    this.#sentMs += frameMs
    this.#totalMs += frameMs
  }

  /** Notes a frame of silence that is not of the ring. */
  padded(): void {
    this.#sentMs += frameMs
    this.#totalMs += frameMs
  }

  /** Notes that words up to this time of the ring are final. */
  settle(atMs: number): void {
    this.#settledMs = Math.max(this.#settledMs, atMs)
  }

  /** Returns the frames for a new connection: those after the last final. Its times begin at 0. */
  replay(): readonly Piece[] {
    this.#map = []
    this.#sentMs = 0
    return this.#kept.filter(({ atMs }) => atMs + frameMs > this.#settledMs)
  }

  /** Returns the frames for a connection that goes on where the vendor's audio ended. */
  resume(vendorMs: number): readonly Piece[] {
    const fromMs = this.timeOf(vendorMs)
    this.#map = this.#map.filter(({ sentMs }) => sentMs < vendorMs)
    this.#sentMs = vendorMs
    return this.#kept.filter(({ atMs }) => atMs + frameMs > fromMs)
  }

  /** Returns the time of the ring at which the vendor's time was. */
  timeOf(vendorMs: number): number {
    const part = this.#map.findLast(({ sentMs }) => sentMs <= vendorMs) ?? this.#map[0]
    return part === undefined ? vendorMs : part.atMs + (vendorMs - part.sentMs)
  }
}

export type { Piece as SentPiece }
