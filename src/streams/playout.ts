// The playout of a server's audio: clips in turn, or a stream as it comes. Frames go to media a few ahead of time, and
// are converted to the call's rate only then, so that a long clip delays nothing.
import { AudioRing } from '../lib/audio/audio-ring.ts'
import { telephoneRate, wideRate } from '../lib/audio/resampler.ts'
import { callRateFor, callRateOf, type CallRate, type WireDecoder } from './pcm.ts'

const frameMs = 20

// Enough that a beat that is late by 40 ms is not audible.
const framesAhead = 3
// A stream begins when this much has come, or after this many beats: servers send in bursts.
const headStartMs = 3 * frameMs
const headStartBeats = 3
// A stream that brings nothing for this many beats has paused: by then everything ahead has been played.
const pauseBeats = 4
const joinedOctets = 8192
/** The most clips, including the one that is playing. */
export const maxClips = 10
export const maxMarks = 100

/** Samples as octets, at the rate of the decoder. */
export interface Speech {
  readonly bytes: Uint8Array
  readonly rate: number
  readonly decoder: WireDecoder
}

export type PlayoutEvent =
  | { readonly type: 'done'; readonly id: string | undefined; readonly ms: number }
  | { readonly type: 'mark'; readonly name: string; readonly event: 'playout' | 'cleared' }

type Piece =
  | (Speech & { readonly kind: 'stream'; /** Its memory may take more. */ readonly isRoomy?: true })
  | (Speech & { readonly kind: 'clip'; readonly id: string | undefined })
  | { readonly kind: 'mark'; readonly name: string }

export class Playout {
  readonly #ring: AudioRing
  /** True if the ring has room for 16 kHz. */
  readonly #takesWide: boolean
  readonly #onEvent: (event: PlayoutEvent) => void
  #pieces: Piece[] = []
  /** The decoder of the stream. */
  #streamed: WireDecoder | undefined
  /** The octets of the first piece that were decoded, and the decoded samples that were not handed over. */
  #at = 0
  #ready: Int16Array = new Int16Array(0)
  /** The rate of the ready samples. */
  #rate: CallRate = telephoneRate
  #waitingMs = 0
  #heardMs = 0
  /** The part of the current clip that was handed over. */
  #clipMs = 0
  #isSounding = false
  #endsWithClip = false
  #beats = 0

  constructor(memory: SharedArrayBuffer, onEvent: (event: PlayoutEvent) => void) {
    this.#ring = new AudioRing(memory)
    this.#takesWide = callRateOf(this.#ring.frameSamples) === wideRate
    this.#onEvent = onEvent
  }

  /** The duration of the audio that waits. */
  get waitingMs(): number {
    return this.#waitingMs
  }

  /** The duration of the audio that was handed over. */
  get heardMs(): number {
    return Math.round(this.#heardMs)
  }

  /** Plays a clip after others or instead of them. Returns false if too many wait. */
  play(
    speech: Speech,
    { id, isQueued }: { readonly id: string | undefined; readonly isQueued: boolean },
  ): boolean {
    if (!isQueued) this.kill()
    if (this.#pieces.filter(({ kind }) => kind === 'clip').length >= maxClips) return false
    this.#add({ ...speech, kind: 'clip', id })
    return true
  }

  /** Adds audio of a stream. */
  push(speech: Speech): void {
    this.#streamed = speech.decoder
    if (speech.bytes.length === 0 || this.#joins(speech)) return
    // A short piece is copied: it would keep the memory of all that came with it.
    const isShort = speech.bytes.length < joinedOctets / 2
    this.#add({ ...speech, ...(isShort && { bytes: new Uint8Array(speech.bytes) }), kind: 'stream' })
  }

  /** Adds a mark, reported when everything before it was handed over. Returns false if too many wait. */
  mark(name: string): boolean {
    if (this.#pieces.filter(({ kind }) => kind === 'mark').length >= maxMarks) return false
    this.#pieces.push({ kind: 'mark', name })
    this.#passMarks()
    return true
  }

  clearMarks(): void {
    const cleared = this.#pieces.filter((piece) => piece.kind === 'mark')
    this.#pieces = this.#pieces.filter((piece) => piece.kind !== 'mark')
    for (const { name } of cleared) this.#onEvent({ type: 'mark', name, event: 'cleared' })
  }

  /** Drops everything that waits. */
  kill(): void {
    this.clearMarks()
    const ended = this.#pieces
    this.#pieces = []
    this.#at = 0
    this.#ready = new Int16Array(0)
    this.#waitingMs = 0
    // A server that drops its audio does so at any octet, and goes on with a whole sample.
    this.#streamed?.reset()
    for (const piece of ended) this.#finish(piece)
    if (this.#isSounding) this.#end()
  }

  /** Fills the ring. */
  beat(): void {
    while (this.#ring.length < framesAhead && this.#mayGoOn()) {
      const frame = this.#take()
      if (frame.length > 0) this.#ring.write(padded(frame, this.#frameSamples))
      if (frame.length < this.#frameSamples) return this.#end()
    }
  }

  /** Joins short pieces: a server may cut its audio into any number of them. */
  #joins({ bytes, decoder }: Speech): boolean {
    const last = this.#pieces.at(-1)
    if (last?.kind !== 'stream' || last.decoder !== decoder) return false
    const length = last.bytes.length + bytes.length
    if (length > joinedOctets) return false
    const { isRoomy = false } = last
    const memory = isRoomy ? last.bytes.buffer : new ArrayBuffer(joinedOctets)
    const joined = new Uint8Array(memory, 0, length)
    if (!isRoomy) joined.set(last.bytes)
    joined.set(bytes, last.bytes.length)
    this.#pieces[this.#pieces.length - 1] = { ...last, bytes: joined, isRoomy: true }
    this.#waitingMs += msOf(last, bytes.length)
    return true
  }

  #add(piece: Speech & Piece): void {
    this.#pieces.push(piece)
    this.#waitingMs += msOf(piece, piece.bytes.length)
  }

  /** Reports whether to hand over a frame. A stream needs a reserve to begin, and a moment to count as paused. */
  #mayGoOn(): boolean {
    const isClip = this.#pieces[0]?.kind === 'clip'
    const waitingMs = this.#msOf(this.#ready) + this.#waitingMs
    const isEnough = waitingMs >= (this.#isSounding ? frameMs : headStartMs)
    if (!isClip && !isEnough && !(this.#isSounding && this.#endsWithClip)) {
      if (!this.#isSounding && waitingMs === 0) return false
      this.#beats += 1
      if (this.#beats < (this.#isSounding ? pauseBeats : headStartBeats)) return false
    }
    this.#beats = 0
    this.#isSounding = true
    return true
  }

  /** Returns a frame, or the rest. */
  #take(): Int16Array {
    while (this.#ready.length < this.#frameSamples && this.#pieces.length > 0) this.#decode()
    const frame = this.#ready.subarray(0, this.#frameSamples)
    this.#ready = this.#ready.subarray(frame.length)
    this.#heardMs += this.#msOf(frame)
    return frame
  }

  get #frameSamples(): number {
    return (this.#rate / 1000) * frameMs
  }

  #msOf(samples: Int16Array): number {
    return samples.length / (this.#rate / 1000)
  }

  /** Decodes 20 ms of the first piece, or its end. */
  #decode(): void {
    const [piece] = this.#pieces
    if (piece === undefined || piece.kind === 'mark') return this.#passMarks()
    const step = Math.ceil(piece.rate / 50) * 2
    const octets = piece.bytes.subarray(this.#at, this.#at + step)
    this.#at += octets.length
    this.#waitingMs -= msOf(piece, octets.length)
    const isOver = this.#at >= piece.bytes.length
    this.#goAt(this.#takesWide && this.#ring.isWholeWanted ? callRateFor(piece.rate) : telephoneRate)
    this.#append(piece.decoder.decode(octets, this.#rate), piece)
    this.#endsWithClip = piece.kind === 'clip'
    if (!isOver) return
    if (piece.kind === 'clip') this.#append(piece.decoder.flush(), piece)
    this.#pieces.shift()
    this.#at = 0
    if (this.#pieces.length === 0) this.#waitingMs = 0
    this.#finish(piece)
    this.#passMarks()
  }

  /** Changes the rate, and converts the ready samples, which are less than a frame. */
  #goAt(rate: CallRate): void {
    if (rate !== this.#rate) this.#ready = rate === wideRate ? doubled(this.#ready) : halved(this.#ready)
    this.#rate = rate
  }

  #append(samples: Int16Array, { kind }: Piece): void {
    this.#ready = joined(this.#ready, samples)
    if (kind === 'clip') this.#clipMs += this.#msOf(samples)
  }

  #finish(piece: Piece): void {
    if (piece.kind !== 'clip') return
    this.#onEvent({ type: 'done', id: piece.id, ms: Math.round(this.#clipMs) })
    this.#clipMs = 0
  }

  #passMarks(): void {
    for (let [piece] = this.#pieces; piece?.kind === 'mark'; [piece] = this.#pieces) {
      this.#pieces.shift()
      this.#onEvent({ type: 'mark', name: piece.name, event: 'playout' })
    }
  }

  /** Writes zeros, so that media does not treat the end as a delay. If all was played already, that has happened. */
  #end(): void {
    if (this.#ring.length > 0) this.#ring.write(new Int16Array(this.#frameSamples))
    this.#isSounding = false
  }
}

function msOf({ rate }: Speech, octets: number): number {
  return (octets / 2 / rate) * 1000
}

function joined(before: Int16Array, samples: Int16Array): Int16Array {
  if (before.length === 0) return samples
  const both = new Int16Array(before.length + samples.length)
  both.set(before)
  both.set(samples, before.length)
  return both
}

/** Doubles the rate: inserts between each two samples their mean. */
function doubled(samples: Int16Array): Int16Array {
  const { length } = samples
  return Int16Array.from({ length: 2 * length }, (_, at) => {
    const index = at >> 1
    const next = Math.min(index + (at & 1), length - 1)
    return ((samples[index] ?? 0) + (samples[next] ?? 0)) / 2
  })
}

function halved(samples: Int16Array): Int16Array {
  return samples.filter((_, at) => at % 2 === 0)
}

function padded(frame: Int16Array, length: number): Int16Array {
  if (frame.length === length) return frame
  const whole = new Int16Array(length)
  whole.set(frame)
  return whole
}
