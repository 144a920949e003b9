// The verb play: plays audio files.
import { Type } from '../lib/type.ts'
import { AppError } from '../lib/errors.ts'
import { defineVerb } from './define/define-verb.ts'
import { playProperties, playUrls, samplesPerMs } from './define/prompt.ts'
import { hookFor, replacingTheRest } from './define/schemas.ts'

export const play = defineVerb({
  name: 'play',
  summary: 'Plays audio from a URL.',
  example: [{ verb: 'play', url: 'https://example.com/welcome.wav', earlyMedia: true }, { verb: 'answer' }],
  needs: 'audio',
  uses: ['voice', 'time', 'hooks', 'notes'],
  schema: Type.Object({
    ...playProperties,
    actionHook: Type.Optional(
      hookFor(`Sent when the playback has ended, or could not begin. ${replacingTheRest}`),
    ),
  }),
  isEarlyMedia: ({ earlyMedia }) => earlyMedia === true,
  async execute(options, given) {
    const { actionHook } = options
    const { hooks, notes, signal } = given
    let result: Record<string, unknown>
    try {
      const playedMs = Math.round(await playUrls(given, options))
      result = {
        reason: 'playCompleted',
        playback_seconds: Math.floor(playedMs / 1000),
        playback_milliseconds: playedMs,
        playback_last_offset_pos: String(Number(options.seekOffset ?? 0) + playedMs * samplesPerMs),
      }
    } catch (error) {
      if (!(error instanceof AppError) || signal.aborted) throw error
      notes.problem(error)
      result = { reason: 'playFailed', status: 'fail' }
    }
    if (actionHook !== undefined) await hooks.ask(actionHook, result, signal)
  },
})
