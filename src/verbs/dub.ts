// The verb dub: tracks of sound that play together with everything else.
import { Type } from '../lib/type.ts'
import type { Static } from 'typebox'
import { toDecibels, type SoundPiece, type TrackRequest } from '../calls/verb.ts'
import { AppError } from '../lib/errors.ts'
import { defineVerb } from './define/define-verb.ts'
import { toVoice } from './define/prompt.ts'
import { decibels, synthesizer } from './define/schemas.ts'

/** The properties of the verb, and of a member of `dub` in `dial`. */
export const dubProperties = {
  action: Type.Union(
    [
      Type.Literal('addTrack'),
      Type.Literal('removeTrack'),
      Type.Literal('silenceTrack'),
      Type.Literal('playOnTrack'),
      Type.Literal('sayOnTrack'),
    ],
    {
      description:
        'addTrack makes a track, and begins what `play` or `say` name; playOnTrack and sayOnTrack begin something else on it; silenceTrack ends what plays; removeTrack removes it.',
    },
  ),
  track: Type.String({ minLength: 1, maxLength: 64, description: 'The name of the track.' }),
  play: Type.Optional(Type.String({ description: 'An audio file, as for the verb play.' })),
  say: Type.Optional(
    Type.Union(
      [
        Type.String(),
        Type.Object({
          text: Type.Union([Type.String(), Type.Array(Type.String())]),
          synthesizer: Type.Optional(synthesizer),
        }),
      ],
      { description: 'A text, or an object with `text` and `synthesizer`, as for the verb say.' },
    ),
  ),
  loop: Type.Optional(Type.Boolean({ description: 'Whether it is heard again and again. Default false.' })),
  gain: decibels('The gain of the track, in dB: a number, or a text like "-10 dB".'),
}

const schema = Type.Object(dubProperties)

export const dub = defineVerb({
  name: 'dub',
  summary: 'Plays tracks of sound together with everything else that the far end hears.',
  example: [
    {
      verb: 'dub',
      action: 'addTrack',
      track: 'rain',
      play: 'https://example.com/rain.wav',
      loop: true,
      gain: -10,
    },
    { verb: 'say', text: 'It rains while we talk.' },
    { verb: 'dub', action: 'removeTrack', track: 'rain' },
  ],
  needs: 'audio',
  uses: ['tracks'],
  schema,
  async execute(options, { tracks }) {
    const { action, track } = options
    switch (action) {
      case 'addTrack':
        tracks.add(track)
        return hasSound(options) ? tracks.play(track, toRequest(options)) : undefined
      case 'removeTrack':
        return tracks.remove(track)
      case 'silenceTrack':
        return tracks.silence(track)
      case 'playOnTrack':
      case 'sayOnTrack':
        return tracks.play(track, toRequest(options))
      default:
        return action satisfies never
    }
  },
})

type DubOptions = Static<typeof schema>

function hasSound({ play, say }: DubOptions): boolean {
  return play !== undefined || say !== undefined
}

function toRequest(options: DubOptions): TrackRequest {
  const { loop = false, gain = 0 } = options
  return { pieces: piecesOf(options), isRepeated: loop, gainDb: toDecibels(gain) }
}

function piecesOf({ action, play, say }: DubOptions): readonly SoundPiece[] {
  if (play !== undefined && action !== 'sayOnTrack') return [{ url: play }]
  if (say === undefined || action === 'playOnTrack')
    throw new AppError(
      'hook_invalid_payload',
      `dub: ${action} needs "${action === 'sayOnTrack' ? 'say' : 'play'}"`,
    )
  const { text, synthesizer: given } = typeof say === 'string' ? { text: say, synthesizer: undefined } : say
  const voice = toVoice(given)
  return (typeof text === 'string' ? [text] : text).map((one) => ({ text: one, voice }))
}
