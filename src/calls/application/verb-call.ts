// The call behind the face that verbs see: passes what they ask for to the leg, the application and the ports.
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import type { PlayResult } from '../../media/media.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import { toHeaderFields } from './app-headers.ts'
import type { AppHooks } from './app-hooks.ts'
import { DigitCollector } from '../digits/digit-collector.ts'
import type { Collected } from '../digits/digit-collector.ts'
import { resolveUrl, toHook } from './hook-form.ts'
import type { HookKind } from '../journal/journal.ts'
import type { Leg, RunningApplication } from '../leg/leg.ts'
import type { AudioFetcher, BorrowedClip, Speech } from '../../contracts/speech.ts'
import type { CallScript } from '../ports.ts'
import type { Hook } from '../../contracts/hook.ts'
import { toCommonPayload, toNodePayload } from '../journal/hook-payloads.ts'
import { reasonHeader, toProblem } from '../leg/refusals.ts'
import type { NodeFacts } from '../journal/hook-payloads.ts'
import { playPrompt } from './prompt-player.ts'
import type { Piece, Prompt } from './prompt-player.ts'
import type { RunnableVerb } from '../verb.ts'
import type {
  Call,
  CollectRequest,
  Decline,
  HookForm,
  PlayRequest,
  Redirect,
  SayRequest,
  Voice,
} from '../call.ts'

/** How the call reaches the verbs that run: replaces what follows, or what runs as well; names what runs now. */
export interface VerbQueue {
  replace(verbs: readonly RunnableVerb[]): void
  interrupt(verbs: readonly RunnableVerb[]): void
  readonly currentId: string | undefined
}

export interface ActiveCallOptions {
  readonly leg: Leg
  readonly application: CallScript
  readonly hooks: AppHooks
  readonly queue: VerbQueue
  readonly speech: Speech
  readonly audio: AudioFetcher
  readonly clock: Clock
  readonly node: NodeFacts
  /** Where relative hooks lead: the URL the application came from. */
  readonly base: string | undefined
}

const silence = /^silence_stream:\/\/(\d{1,9})/
const longestTag = 65_536

export class ActiveCall implements Call, RunningApplication {
  readonly #options: ActiveCallOptions
  #base: string | undefined
  #usesFallbackVoice = false
  readonly #goesWithout = new Set<ErrorCode>()

  constructor(options: ActiveCallOptions) {
    this.#options = options
    this.#base = options.base
  }

  get call_sid(): string {
    return this.#options.leg.call_sid
  }

  get isAnswered(): boolean {
    return this.#options.leg.isAnswered
  }

  get hasEnded(): boolean {
    return this.#options.leg.hasEnded
  }

  answer(): Promise<void> {
    return this.#options.leg.answer()
  }

  startEarlyMedia(): Promise<void> {
    return this.#options.leg.startEarlyMedia()
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

  hideDigits(isHidden: boolean | undefined): void {
    this.#options.leg.journal.hideDigits(isHidden)
  }

  async collect({ rules, prompt, signal }: CollectRequest): Promise<Collected> {
    const speaking = new AbortController()
    const collector = new DigitCollector({
      rules,
      clock: this.#options.clock,
      onBargeIn: () => speaking.abort(),
    })
    const stop = (): void => {
      speaking.abort()
      collector.stop()
    }
    const stopListening = this.#options.leg.onDigit((digit) => collector.press(digit))
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const prompting = this.#prompt(prompt, speaking.signal, collector)
    try {
      return await collector.outcome
    } finally {
      stopListening()
      signal.removeEventListener('abort', stop)
      speaking.abort()
      await prompting
    }
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(ms, this.#options.clock, signal)
  }

  limit(ms: number, signal: AbortSignal): { readonly signal: AbortSignal; release(): void } {
    const limited = new AbortController()
    const abort = (): void => limited.abort()
    const timer = this.#options.clock.after(ms, abort)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    return {
      signal: limited.signal,
      release: () => {
        timer.cancel()
        signal.removeEventListener('abort', abort)
      },
    }
  }

  async ask(form: HookForm, fields: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void> {
    await this.#ask('action', this.#hook(form), fields, signal)
  }

  async redirect({ hook, statusHook, signal }: Redirect): Promise<void> {
    if (statusHook !== undefined) this.#options.leg.status.replaceHook(this.#hook(statusHook))
    await this.#ask('redirect', this.#hook(hook), {}, signal)
  }

  async takeOver(hook: Hook): Promise<void> {
    const { leg, queue } = this.#options
    await this.#ask('redirect', hook, {}, leg.signal, (verbs) => queue.interrupt(verbs))
  }

  tag(data: object): void {
    const { leg } = this.#options
    if (JSON.stringify(data).length > longestTag)
      throw new AppError('bad_request', `tag: "data" is longer than ${longestTag} characters`)
    leg.journal.add({ type: 'tagged', data })
  }

  hangUp(headers: Readonly<Record<string, unknown>> | undefined): void {
    const { fields } = this.#headers(headers)
    void this.#options.leg.hangUp({ headers: fields })
  }

  decline({ status, reason, headers }: Decline): void {
    const { fields } = this.#headers(headers)
    const phrase = reason === undefined ? reasonPhraseOf(status) : reasonHeader(reason).value
    this.#options.leg.decline({
      status,
      reason: phrase,
      headers: [...fields.filter(({ name }) => name !== 'x-reason'), reasonHeader('SIP Decline Verb')],
    })
  }

  problem(error: AppError): void {
    this.#options.leg.journal.note(toProblem(error))
  }

  goWithout(error: AppError): void {
    if (this.#goesWithout.has(error.code)) {
      this.note(error.message)
      return
    }
    this.#goesWithout.add(error.code)
    this.problem(error)
  }

  note(sentence: string): void {
    this.#options.leg.journal.note({ type: 'note', sentence })
  }

  async #synthesize(text: string, voice: Voice, signal: AbortSignal): Promise<BorrowedClip> {
    const { fallback } = voice
    if (fallback === undefined) return this.#synthesizeWith(text, voice, signal)
    if (this.#usesFallbackVoice) return this.#synthesizeWith(text, fallback, signal)
    try {
      return await this.#synthesizeWith(text, voice, signal)
    } catch (error) {
      if (!(error instanceof AppError) || signal.aborted) throw error
      this.problem(error)
      this.#usesFallbackVoice = true
      return this.#synthesizeWith(text, fallback, signal)
    }
  }

  async #synthesizeWith(text: string, voice: Voice, signal: AbortSignal): Promise<BorrowedClip> {
    const { speech, application } = this.#options
    const vendor = chosen(voice.vendor, application.speech_synthesis_vendor)
    const clip = await speech.synthesize({
      account_sid: application.account_sid,
      text,
      vendor,
      language: chosen(voice.language, application.speech_synthesis_language),
      voice: chosen(voice.voice, application.speech_synthesis_voice),
      label: chosen(voice.label, application.speech_synthesis_label),
      signal,
    })
    if (clip.fallback === true && vendor !== null) {
      const sentence = clip.note ?? `the embedded voice spoke: "${vendor}" has no such voice here`
      if (clip.isVendorMissing === true) this.goWithout(new AppError('synthesizer_unknown', sentence))
      else this.note(sentence)
    }
    return clip
  }

  #hook(form: HookForm): Hook {
    return toHook(form, { base: this.#base, application: this.#options.application.call_hook })
  }

  async #ask(
    kind: HookKind,
    hook: Hook,
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    take?: (verbs: readonly RunnableVerb[]) => void,
  ): Promise<void> {
    const { leg, hooks, queue, node } = this.#options
    if (leg.hasEnded || signal.aborted) return
    const verb_id = queue.currentId
    const payload = {
      ...toCommonPayload(leg.journal.facts),
      ...toNodePayload(leg.journal.facts, node),
      ...(verb_id === undefined ? {} : { verb_id }),
      ...fields,
    }
    try {
      const { url, verbs } = await hooks.ask({ kind, hook, payload, signal })
      if (verbs.length === 0 || signal.aborted) return
      this.#base = url
      if (take === undefined) queue.replace(verbs)
      else take(verbs)
    } catch (error) {
      // The exchange is in the journal already; the call goes on with the verb that follows.
      if (!(error instanceof AppError)) throw error
      if (error.code === 'hook_invalid_payload' && !leg.hasEnded) leg.status.reportInvalidPayload(error)
    }
  }

  #headers(headers: Readonly<Record<string, unknown>> | undefined): ReturnType<typeof toHeaderFields> {
    const result = toHeaderFields(headers)
    if (result.refused.length > 0)
      this.note(`these headers may not be set and were left out: ${result.refused.join(', ')}`)
    return result
  }

  async #fetch(url: string, signal: AbortSignal): Promise<BorrowedClip> {
    return await this.#options.audio.fetch(resolveUrl(url, this.#base), { signal })
  }

  async #play(prompt: Prompt): Promise<PlayResult> {
    const { clock, leg } = this.#options
    const result = await playPrompt(prompt, {
      play: (options) => leg.play(options),
      wait: (ms, signal) => this.wait(ms, signal),
      nowMs: () => clock.monotonic(),
    })
    if (result.missedMs !== undefined)
      this.note(`${result.missedMs} ms of silence stood in for audio that the disk did not bring in time`)
    return result
  }

  async #prompt(
    prompt: CollectRequest['prompt'],
    signal: AbortSignal,
    collector: DigitCollector,
  ): Promise<void> {
    try {
      await prompt?.(signal)
    } catch (error) {
      // A prompt that cannot be heard does not keep the caller from answering.
      if (!(error instanceof AppError)) throw error
      if (!signal.aborted) this.problem(error)
    } finally {
      collector.promptEnded()
    }
  }
}

function toSilence(text: string): Piece | undefined {
  const ms = silence.exec(text)?.[1]
  return ms === undefined ? undefined : { silenceMs: Number(ms) }
}

function chosen(given: string | object | undefined, inherited: string | null): string | null {
  return typeof given === 'string' && given !== 'default' ? given : inherited
}
