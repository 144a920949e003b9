// The playbacks of one stream: the first one plays, the others follow it without a gap.
import { AppError } from '../lib/errors.ts'
import type { Clips } from './clips.ts'
import type { ClipFormName } from './clip-form.ts'
import type { Laws } from './codecs/g711.ts'
import { ClipFrame } from './graph/frame.ts'
import type { Frame } from './graph/frame.ts'
import type { PlayResult } from './media.ts'
import { Player } from './player.ts'

// One plays, one is ready to follow, and one more may cross the end of the first on its way here.
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
  /** Where the one that was stopped would have gone on: so that its end is no click. */
  #tail: Frame | undefined

  constructor(clips: Clips, laws: Laws) {
    this.#clips = clips
    this.#frame = new ClipFrame(laws)
  }

  get isPlaying(): boolean {
    return this.#players.length > 0
  }

  /** Ends what plays as stopped, or follows it at the tick after its last frame. */
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

  /** The next one begins in the tick in which its predecessor has nothing left. */
  next(nowMs: number): Frame | undefined {
    for (;;) {
      const player = this.#players[0]?.player
      const played = player?.next(nowMs)
      if (player?.hasEnded !== true) return played === undefined ? undefined : this.#frame.of(played)
      this.#players = this.#players.slice(1)
    }
  }

  /** Once: what would have come next of a playback that was stopped while it sounded. */
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
