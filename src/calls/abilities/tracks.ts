// The ability to dub: tracks of sound that are mixed with everything else.
import { AppError } from '../../lib/errors.ts'
import type { Leg } from '../leg/leg.ts'
import type { Notes, TrackRequest, Tracks } from '../verb/abilities.ts'
import type { LegVoice } from '../voice/voice.ts'

export interface TracksOptions {
  readonly leg: Pick<Leg, 'media' | 'signal'>
  readonly voice: Pick<LegVoice, 'borrow'>
  readonly notes: Notes
}

export function createTracks({ leg, voice, notes }: TracksOptions): Tracks {
  const { tracks } = leg.media
  return {
    add: (name) => tracks.add(name),
    remove: (name) => tracks.remove(name),
    silence: (name) => tracks.silence(name),
    async play(name: string, { pieces, isRepeated, gainDb }: TrackRequest) {
      const begun = tracks.begin(name)
      const signal = AbortSignal.any([begun, leg.signal])
      const borrowed = await Promise.allSettled(pieces.map((piece) => voice.borrow(piece, signal)))
      const clips = borrowed.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      const failed = borrowed.find((one) => one.status === 'rejected')
      if (failed !== undefined || signal.aborted) for (const clip of clips) clip.release()
      if (signal.aborted) return
      if (failed !== undefined) throw failed.reason
      void tracks.play(name, { clips, isRepeated, gainDb }, signal).then((end) => {
        if (end === 'failed')
          notes.problem(
            new AppError('audio_not_supported', `dub: the sound of track "${name}" cannot be played`),
          )
      })
    },
  }
}
