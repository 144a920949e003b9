// Speaking and playing, for the verbs say and play and for the prompts of other verbs.
import { Type } from '../../lib/type.ts'
import type { Static } from 'typebox'
import type { Voice } from '../../calls/verb.ts'
import type { Given } from './define-verb.ts'
import { earlyMedia, loop, optional, synthesizer, untilServed } from './schemas.ts'

export const tokenStreams = 'speech that is spoken while it comes in'

export const sayProperties = {
  text: Type.Union([Type.String(), Type.Array(Type.String())], {
    description:
      'What is said; the entries of an array one after another. SSML when it begins with <speak>. silence_stream://<ms> is silence.',
  }),
  loop,
  synthesizer: Type.Optional(synthesizer),
  instructions: optional.text(
    untilServed('speech by such a vendor', 'Style prompt for vendors that take one.'),
  ),
  stream: optional.flag('Token streaming; only for WebSocket applications.'),
  closeOnStreamEmpty: optional.flag(untilServed(tokenStreams, 'Only with stream.')),
  closeStreamOnEmpty: optional.flag(untilServed(tokenStreams, 'Older spelling of closeOnStreamEmpty.')),
  earlyMedia,
  disableTtsCache: optional.flag(
    untilServed('synthesis past the cache', 'Synthesises the text again, even if a clip of it is cached.'),
  ),
}

export const playProperties = {
  url: Type.Union([Type.String(), Type.Array(Type.String())], {
    description:
      'An audio file over http or https (WAV, MP3, or Opus in Ogg; one or two channels, at most two hours), or silence_stream://<ms>; the entries of an array one after another.',
  }),
  loop,
  earlyMedia,
  seekOffset: Type.Optional(
    Type.Union([Type.Number({ minimum: 0 }), Type.String({ pattern: '^\\d+$' })], {
      description: 'Where to begin, in samples of 1/8000 s.',
    }),
  ),
  timeoutSecs: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, description: 'Stop after this many seconds.' }),
  ),
}

const sayOptions = Type.Object(sayProperties)
const playOptions = Type.Object(playProperties)
export type SayOptions = Static<typeof sayOptions>
export type PlayOptions = Static<typeof playOptions>

export const samplesPerMs = 8

/** Throws speech_failed or synthesizer_unknown. */
export async function speak({ voice: ability, signal }: Given<'voice'>, options: SayOptions): Promise<void> {
  const texts = typeof options.text === 'string' ? [options.text] : options.text
  const voice = toVoice(options.synthesizer)
  await ability.say({ texts, voice, rounds: roundsOf(options.loop), signal })
}

/** Resolves with the amount that was played. Throws audio_not_found, audio_not_supported or hook_refused_address. */
export async function playUrls(given: Given<'voice' | 'time'>, options: PlayOptions): Promise<number> {
  if (options.timeoutSecs === undefined) return playRounds(given, options)
  const limit = given.time.limit(options.timeoutSecs * 1000, given.signal)
  try {
    return await playRounds({ ...given, signal: limit.signal }, options)
  } finally {
    limit.release()
  }
}

async function playRounds({ voice, signal }: Given<'voice'>, options: PlayOptions): Promise<number> {
  const urls = typeof options.url === 'string' ? [options.url] : options.url
  const offsetMs = Number(options.seekOffset ?? 0) / samplesPerMs
  const rounds = roundsOf(options.loop)
  const { playedMs } = await voice.play({ urls, rounds, signal, ...(offsetMs > 0 ? { offsetMs } : {}) })
  return playedMs
}

function roundsOf(loops: number | 'forever' | undefined): number {
  return loops === 'forever' || loops === 0 ? Infinity : Math.max(1, Math.floor(loops ?? 1))
}

export function toVoice(given: Static<typeof synthesizer> | undefined): Voice {
  if (given === undefined) return {}
  const { vendor, label, language, voice, fallbackVendor } = given
  const fallback =
    fallbackVendor === undefined
      ? undefined
      : {
          vendor: fallbackVendor,
          ...(given.fallbackLabel === undefined ? {} : { label: given.fallbackLabel }),
          ...(given.fallbackLanguage === undefined ? {} : { language: given.fallbackLanguage }),
          ...(given.fallbackVoice === undefined ? {} : { voice: given.fallbackVoice }),
        }
  return {
    ...(vendor === undefined ? {} : { vendor }),
    ...(label === undefined ? {} : { label }),
    ...(language === undefined ? {} : { language }),
    ...(voice === undefined ? {} : { voice }),
    ...(fallback === undefined ? {} : { fallback }),
  }
}
