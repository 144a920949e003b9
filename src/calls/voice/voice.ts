// The ability to speak and to play: texts and files become pieces of sound. Once the first voice has failed, the
// fallback voice is used.
import { sleep, type Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { PlayResult } from '../../media/media.ts'
import type { CallSettings } from '../verb/settings.ts'
import type { Leg } from '../leg/leg.ts'
import { stopped } from '../session/stop.ts'
import type { CallScript } from '../ports.ts'
import type { Notes, PlayRequest, SayRequest, SoundPiece, Speaking, Voice } from '../verb/abilities.ts'
import { playPrompt, type Piece, type Prompt } from './prompt-player.ts'
import type { AudioFetcher, BorrowedClip, Speech, SpeechRequest } from '../../contracts/speech.ts'

export interface LegVoiceOptions {
  readonly leg: Leg
  readonly script: CallScript
  readonly speech: Speech
  readonly audio: AudioFetcher
  readonly clock: Clock
  readonly notes: Notes
  readonly settings: Pick<CallSettings, 'current'>
  /** Makes a URL of the application absolute. */
  readonly resolveUrl: (url: string) => string
  /** Called with events of prompts: `synthesized-audio`, `start-playback`, then `stop-playback` or `kill-playback`. */
  readonly report: (event: string, fields?: object) => void
}

const silence = /^silence_stream:\/\/(\d{1,9})/

export class LegVoice implements Speaking {
  readonly #options: LegVoiceOptions
  #usesFallback = false
  #cutting = new AbortController()

  constructor(options: LegVoiceOptions) {
    this.#options = options
  }

  say({ texts, voice, rounds, signal: given }: SayRequest): Promise<PlayResult> {
    const signal = this.#untilCut(given)
    const pieces = texts.map(
      (text): Piece =>
        toSilence(text) ??
        (text.trim() === '' ? { silenceMs: 0 } : { borrow: () => this.#synthesize(text, voice, signal) }),
    )
    return this.#play({ pieces, rounds, signal })
  }

  play({ urls, offsetMs, rounds, signal: given }: PlayRequest): Promise<PlayResult> {
    const signal = this.#untilCut(given)
    const pieces = urls.map((url, index): Piece => {
      const borrow = (): Promise<BorrowedClip> => this.#fetch(url, signal)
      return toSilence(url) ?? (offsetMs === undefined || index > 0 ? { borrow } : { borrow, offsetMs })
    })
    return this.#play({ pieces, rounds, signal })
  }

  /** Ends what is said or played now. The verb that does it ends as if it had been heard. */
  cut(): void {
    this.#cutting.abort(stopped('barged-in'))
    this.#cutting = new AbortController()
  }

  #untilCut(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#cutting.signal])
  }

  /** Returns the clip of a piece, which the borrower must give back. Throws as `say` and `play` do. */
  async borrow(piece: SoundPiece, signal: AbortSignal): Promise<BorrowedClip> {
    return 'url' in piece
      ? await this.#fetch(piece.url, signal)
      : await this.#synthesize(piece.text, piece.voice, signal)
  }

  async #synthesize(text: string, given: Voice, signal: AbortSignal): Promise<BorrowedClip> {
    const { settings, script, notes } = this.#options
    const first = this.#chosenVoice(given)
    const fallback = given.fallback ?? settings.current.voice.fallback ?? script.fallback_voice
    if (fallback === undefined) return this.#synthesizeWith(text, first, signal)
    const second = asFallback(fallback, first)
    if (this.#usesFallback) return this.#synthesizeWith(text, second, signal)
    try {
      return await this.#synthesizeWith(text, first, signal, { mayStandIn: false })
    } catch (error) {
      if (!(error instanceof AppError) || signal.aborted) throw error
      notes.problem(error)
      this.#usesFallback = true
      return this.#synthesizeWith(text, second, signal)
    }
  }

  /** Returns the voice: from the verb, else from `config`, else from the application. Ignores the value "default". */
  #chosenVoice(given: Voice): ChosenVoice {
    const { settings, script } = this.#options
    const said = Object.entries(given).filter(([, value]) => value !== 'default')
    const voice: Voice = { ...settings.current.voice, ...Object.fromEntries(said) }
    return {
      vendor: chosen(voice.vendor, script.speech_synthesis_vendor),
      language: chosen(voice.language, script.speech_synthesis_language),
      voice: chosen(voice.voice, script.speech_synthesis_voice),
      label: chosen(voice.label, script.speech_synthesis_label),
    }
  }

  /** `mayStandIn` false: throws synthesizer_unknown where the embedded voice would replace a missing vendor. */
  async #synthesizeWith(
    text: string,
    voice: ChosenVoice,
    signal: AbortSignal,
    { mayStandIn = true } = {},
  ): Promise<BorrowedClip> {
    const { speech, script, notes, clock } = this.#options
    const { vendor, language } = voice
    const sinceMs = clock.monotonic()
    const clip = await speech.synthesize({ account_sid: script.account_sid, text, ...voice, signal })
    if (clip.fallback === true && vendor !== null) {
      const sentence = clip.note ?? `the embedded voice spoke: "${vendor}" has no such voice here`
      const missing = clip.isVendorMissing ? new AppError('synthesizer_unknown', sentence) : undefined
      if (missing !== undefined && !mayStandIn) {
        clip.release()
        throw missing
      }
      if (missing === undefined) notes.note(sentence)
      else notes.goWithout(missing)
    }
    this.#options.report('synthesized-audio', {
      ...(vendor === null ? {} : { vendor }),
      ...(language === null ? {} : { language }),
      characters: text.length,
      elapsed_ms: Math.round(clock.monotonic() - sinceMs),
    })
    return clip
  }

  async #fetch(url: string, signal: AbortSignal): Promise<BorrowedClip> {
    const { audio, resolveUrl } = this.#options
    return await audio.fetch(resolveUrl(url), { signal })
  }

  async #play(prompt: Prompt): Promise<PlayResult> {
    const { clock, leg, notes, report } = this.#options
    let isHeard = false
    const playing = playPrompt(prompt, {
      play(options) {
        if (!isHeard) report('start-playback')
        isHeard = true
        return leg.media.play(options)
      },
      wait: (ms, signal) => sleep(ms, clock, signal),
      nowMs: () => clock.monotonic(),
    })
    const result = await playing.finally(() => {
      if (isHeard) report(prompt.signal.aborted ? 'kill-playback' : 'stop-playback')
    })
    if (result.missedMs !== undefined)
      notes.note(`${result.missedMs} ms of silence replaced audio that the disk did not deliver in time`)
    return result
  }
}

function toSilence(text: string): Piece | undefined {
  const ms = silence.exec(text)?.[1]
  return ms === undefined ? undefined : { silenceMs: Number(ms) }
}

type ChosenVoice = Pick<SpeechRequest, 'vendor' | 'language' | 'voice' | 'label'>

function chosen(given: string | object | undefined, inherited: string | null): string | null {
  return typeof given === 'string' && given !== 'default' ? given : inherited
}

/** Returns the fallback voice. It keeps the language. It keeps voice and label only for the same vendor. */
function asFallback(fallback: Voice, first: ChosenVoice): ChosenVoice {
  const vendor = chosen(fallback.vendor, first.vendor)
  const known = vendor === first.vendor ? first : { voice: null, label: null }
  return {
    vendor,
    language: chosen(fallback.language, first.language),
    voice: chosen(fallback.voice, known.voice),
    label: chosen(fallback.label, known.label),
  }
}
