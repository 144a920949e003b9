// The playbacks of one stream: the first one plays, and the others follow it without a gap.
import { AppError } from '../../lib/errors.ts'
import type { Clips } from './clips.ts'
import type { ClipFormName } from './clip-form.ts'
import type { Laws } from '../codecs/g711.ts'
import { ClipFrame, type Frame } from '../frames/frame.ts'
import type { PlayResult } from '../media.ts'
import { Player } from './player.ts'

// One plays, one is ready to follow, and one more may arrive here while the first one is ending.
const maxFollowing = 3

export interface PlayOrder {
  readonly id: number
  readonly path: string
  readonly offsetMs: number
  readonly rounds: number
  readonly follows: boolean
}

export class Playbacks {
  readonly #clips: Clips
  readonly #frame: ClipFrame
  #players: readonly { readonly id: number; readonly player: Player }[] = []
  /** The next frame of a playback that was stopped. Faded out, it keeps the stop from clicking. */
  #tail: Frame | undefined

  constructor(clips: Clips, laws: Laws) {
    this.#clips = clips
    this.#frame = new ClipFrame(laws)
  }

  get isPlaying(): boolean {
    return this.#players.length > 0
  }

  /** Stops the current playback, or begins in the tick after its last frame. */
  async play({ id, follows, path, offsetMs, rounds }: PlayOrder, form: ClipFormName): Promise<PlayResult> {
    if (!follows) this.stopAll()
    if (this.#players.length > maxFollowing)
      throw new AppError('overloaded', 'too many playbacks of one call wait for each other')
    const player = new Player({ clips: this.#clips, path, offsetMs, rounds, form })
    this.#players = [...this.#players, { id, player }]
    return await player.result
  }

  stop(id: number): void {
    const found = this.#players.find((one) => one.id === id)
    if (found !== undefined) this.#end(found.player)
  }

  stopAll(): void {
    for (const { player } of this.#players) this.#end(player)
    this.#players = []
  }

  /**
   * Returns the frame of this tick. The next playback begins in the tick in which its predecessor has no frame left.
   */
  next(nowMs: number): Frame | undefined {
    for (;;) {
      const player = this.#players[0]?.player
      const played = player?.next(nowMs)
      if (player?.hasEnded !== true) return played === undefined ? undefined : this.#frame.of(played)
      this.#players = this.#players.slice(1)
    }
  }

  /** Returns, once, the next frame of a playback that was stopped while it sounded. */
  takeTail(): Frame | undefined {
    const tail = this.#tail
    this.#tail = undefined
    return tail
  }

  #end(player: Player): void {
    const rest = player.stop()
    if (rest !== undefined) this.#tail = copyOf(this.#frame.of(rest))
  }
}

function copyOf(frame: Frame): Frame {
  const narrow = frame.samples().slice()
  const wide = frame.samples(16_000).slice()
  return { rate: frame.rate, samples: (rate) => (rate === 16_000 ? wide : narrow), octets: () => undefined }
}
