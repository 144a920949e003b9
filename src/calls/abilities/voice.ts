// The ability to speak and to play: texts and files become pieces of sound, in the fallback voice once the first one has
// failed.
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { PlayResult } from '../../media/media.ts'
import type { CallSettings } from '../application/settings.ts'
import type { Leg } from '../leg/leg.ts'
import type { CallScript } from '../ports.ts'
import type { Notes, PlayRequest, SayRequest, SoundPiece, Speaking, Voice } from './abilities.ts'
import { playPrompt } from './prompt-player.ts'
import type { Piece, Prompt } from './prompt-player.ts'
import type { AudioFetcher, BorrowedClip, Speech } from '../../contracts/speech.ts'

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
  /** Told what becomes of prompts: `start-playback`, `stop-playback` at their end, or `kill-playback`; `synthesized-audio`. */
  readonly report: (event: string, fields?: object) => void
}

const silence = /^silence_stream:\/\/(\d{1,9})/

export class LegVoice implements Speaking {
  readonly #options: LegVoiceOptions
  #usesFallback = false

  constructor(options: LegVoiceOptions) {
    this.#options = options
  }

  say({ texts, voice, rounds, signal }: SayRequest): Promise<PlayResult> {
    const pieces = texts.map(
      (text): Piece =>
        toSilence(text) ??
        (text.trim() === '' ? { silenceMs: 0 } : { borrow: () => this.#synthesize(text, voice, signal) }),
    )
    return this.#play({ pieces, rounds, signal })
  }

  play({ urls, offsetMs, rounds, signal }: PlayRequest): Promise<PlayResult> {
    const pieces = urls.map((url, index): Piece => {
      const borrow = (): Promise<BorrowedClip> => this.#fetch(url, signal)
      return toSilence(url) ?? (offsetMs === undefined || index > 0 ? { borrow } : { borrow, offsetMs })
    })
    return this.#play({ pieces, rounds, signal })
  }

  /** The sound of a piece, which the borrower gives back. Throws as `say` and `play` do. */
  async borrow(piece: SoundPiece, signal: AbortSignal): Promise<BorrowedClip> {
    return 'url' in piece
      ? await this.#fetch(piece.url, signal)
      : await this.#synthesize(piece.text, piece.voice, signal)
  }

  async #synthesize(text: string, voice: Voice, signal: AbortSignal): Promise<BorrowedClip> {
    const { fallback = this.#options.settings.current.voice.fallback } = voice
    if (fallback === undefined) return this.#synthesizeWith(text, voice, signal)
    if (this.#usesFallback) return this.#synthesizeWith(text, fallback, signal)
    try {
      return await this.#synthesizeWith(text, voice, signal)
    } catch (error) {
      if (!(error instanceof AppError) || signal.aborted) throw error
      this.#options.notes.problem(error)
      this.#usesFallback = true
      return this.#synthesizeWith(text, fallback, signal)
    }
  }

  async #synthesizeWith(text: string, given: Voice, signal: AbortSignal): Promise<BorrowedClip> {
    const { speech, script, notes, settings, clock } = this.#options
    const voice = overriding(settings.current.voice, given)
    const vendor = chosen(voice.vendor, script.speech_synthesis_vendor)
    const language = chosen(voice.language, script.speech_synthesis_language)
    const sinceMs = clock.monotonic()
    const clip = await speech.synthesize({
      account_sid: script.account_sid,
      text,
      vendor,
      language,
      voice: chosen(voice.voice, script.speech_synthesis_voice),
      label: chosen(voice.label, script.speech_synthesis_label),
      signal,
    })
    if (clip.fallback === true && vendor !== null) {
      const sentence = clip.note ?? `the embedded voice spoke: "${vendor}" has no such voice here`
      if (clip.isVendorMissing === true) notes.goWithout(new AppError('synthesizer_unknown', sentence))
      else notes.note(sentence)
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
      notes.note(`${result.missedMs} ms of silence stood in for audio that the disk did not bring in time`)
    return result
  }
}

function toSilence(text: string): Piece | undefined {
  const ms = silence.exec(text)?.[1]
  return ms === undefined ? undefined : { silenceMs: Number(ms) }
}

/** What a verb says goes before what `config` has set; "default" says nothing. */
function overriding(set: Voice, given: Voice): Voice {
  const said = Object.entries(given).filter(([, value]) => value !== 'default')
  return { ...set, ...Object.fromEntries(said) }
}

function chosen(given: string | object | undefined, inherited: string | null): string | null {
  return typeof given === 'string' && given !== 'default' ? given : inherited
}
